// Bounds of broadcast trees, with their units, and what happens at the limit.
#pragma once

#include <cstddef>
#include <cstdint>


namespace ingot::inline replication_replica_trees {

// With fewer replicas `--tree=best` is a star without relays: a tree would save its root two or three sends and cost
// all others a hop.
inline constexpr int kTreeReplicasMin = 6;
// Past versions of trees that are kept for messages on their way; messages of older versions are not forwarded.
inline constexpr int kTreeVersionsKept = 8;

// Messages that wait in an inner endpoint for a tree that is not known here yet. Their content is handled at once.
// Beyond these bounds they are not forwarded, and the replicas below fetch what they miss.
inline constexpr int kHeldMessagesMax = 256;
inline constexpr std::size_t kHeldBytesMax = 4 * 1024 * 1024;

// Answers that wait in an inner endpoint for equal ones from below: the longest wait, and the most different ones.
inline constexpr int kCombineTicks = 1;
inline constexpr int kCombinedAnswersMax = 256;

// ---- Bypass ---------------------------------------------------------------------------------------------------------
inline constexpr std::uint64_t kTreeCheckNs = 20'000'000;  // between two checks of all replicas' progress, under load
// Checks after the last work: a replica that is behind at the second has been behind for a whole period.
inline constexpr int kQuietChecks = 2;
inline constexpr int kStoppedChecks = 2;  // in a row that find an inner endpoint stopped, before its bypass
inline constexpr int kSlowChecks = 25;    // likewise, behind while its parent is not
// Checks in a row at which a bypassed endpoint must be up to date before it becomes an inner endpoint again. Doubles
// with each bypass, up to the maximum; halves with each kForgiveChecks in the tree.
inline constexpr int kReturnChecks = 50;
inline constexpr int kReturnChecksMax = 50 * 64;
inline constexpr int kForgiveChecks = 3000;
inline constexpr int kChangeChecks = 5;  // between two proposals of one leader, whatever is wrong

// ---- Costs that drift -----------------------------------------------------------------------------------------------
inline constexpr int kSlowdownMax = 64;  // largest factor of an endpoint's cost over the group's median
// An endpoint's cost is measured over windows of so many checks with progress, if it has handled so many messages.
inline constexpr int kDriftWindowChecks = 50;
inline constexpr std::uint64_t kDriftMessagesMin = 500;
// A cost has drifted if it differs by more than this factor from what the trees were planned for, in so many windows in
// a row.
inline constexpr double kDriftFactor = 2.0;
inline constexpr int kDriftWindows = 3;
// Trees that one plan on a running leader may evaluate: a few milliseconds in all, since the leader does nothing else
// meanwhile.
inline constexpr std::int64_t kReplanEvaluations = 500;
inline constexpr std::int64_t kInitialEvaluations = 20'000;  // likewise, for each root, before the instance serves

static_assert(kStoppedChecks < kSlowChecks && kReturnChecks <= kReturnChecksMax);

}  // namespace ingot::replication_replica_trees
