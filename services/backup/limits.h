// Bounds of backups, with their units, and what happens when they are reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_backup {

// Backups that are sent at a time, to the clients of one door (TCP, Unix socket) together; another call is
// RESOURCE_EXHAUSTED. Each may keep one former snapshot in memory, which the instance needs no longer. The doors are
// counted apart, so that strangers cannot lock out the users of the socket.
inline constexpr int kBackupsPerDoorMax = 2;
// Between two wishes for a snapshot, of all calls together; a further call waits for its turn. So who calls without end
// has no more than one written in that time.
inline constexpr std::int64_t kBackupIntervalMs = 1'000;
inline constexpr std::size_t kBackupPartBytes = 64 * 1024;  // of the file in one message; a stream holds one at a time
// A client that takes no part for so long has its call cancelled: else it would keep a place and a snapshot.
inline constexpr std::int64_t kBackupStillMs = 30'000;
// From the call to a published snapshot; then the call is UNAVAILABLE. Some 1 s is needed for each GiB of state.
inline constexpr std::int64_t kBackupWaitMs = 180'000;
inline constexpr std::int64_t kBackupLookMs = 20;      // between two looks for that snapshot
inline constexpr std::int64_t kBackupWatchMs = 1'000;  // between two looks whether a client reads

}  // namespace ingot::services_backup
