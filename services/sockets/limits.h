// Bounds of listening sockets, and what happens at them.
#pragma once

namespace ingot::inline services_sockets {

// Connections that a front end has not accepted yet, as while the next one starts; the kernel drops further ones, and
// their clients try again. The kernel's own bound is net.core.somaxconn.
inline constexpr int kListenBacklog = 4096;

// How long a start waits for another one that is binding a Unix socket at the same path; then it gives up.
inline constexpr int kSocketLockMs = 5'000;
inline constexpr int kSocketLockRetryMs = 5;

}  // namespace ingot::services_sockets
