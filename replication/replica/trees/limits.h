// Bounds of the trees that replicas' broadcasts travel on, and what happens at each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limits.h"

namespace ingot {

// Below so many replicas `--tree=best` is a star without relays: a tree would save its root two or three sends and cost
// everybody else a hop.
inline constexpr int kTreeReplicasMin = 6;
// Trees of past versions that are kept for messages still on their way; what belongs to an older one is not passed on.
inline constexpr int kTreeVersionsKept = 8;

// Messages that wait in an inner endpoint for a tree that it does not know yet. They are handled at once; beyond these
// bounds they are not passed on, and those below fetch what they miss.
inline constexpr int kHeldMessagesMax = 256;
inline constexpr std::size_t kHeldBytesMax = 4 * 1024 * 1024;

// Answers that wait in an inner endpoint for equal ones from below: for so long at most, and so many different ones.
inline constexpr int kCombineTicks = 1;
inline constexpr int kCombinedAnswersMax = 256;

// ---- By-passing ---------------------------------------------------------------------------------------------------
inline constexpr std::uint64_t kTreeCheckNs = 20'000'000;  // between two looks at everybody's progress, under load
// Looks after the last work: at the second, whoever lacks something has lacked it for a whole look.
inline constexpr int kQuietChecks = 2;
inline constexpr int kStoppedChecks = 2;  // in a row at which an inner endpoint is seen stopped; then it is by-passed
inline constexpr int kSlowChecks = 25;    // likewise, behind though its parent is not
// Looks in a row at which a by-passed endpoint must be up to date before it may pass messages on again; twice as many
// after each time that it was by-passed, up to the maximum; half as many after each kForgiveChecks in the tree.
inline constexpr int kReturnChecks = 50;
inline constexpr int kReturnChecksMax = 50 * 64;
inline constexpr int kForgiveChecks = 3000;
inline constexpr int kChangeChecks = 5;  // between two proposals of one leader, however much is wrong

// ---- Costs that drift ---------------------------------------------------------------------------------------------
inline constexpr int kSlowdownMax = 64;  // an endpoint's cost beside the group's median; more counts as this
// An endpoint's cost is measured over windows of so many looks with progress, if it has handled so many messages.
inline constexpr int kDriftWindowChecks = 50;
inline constexpr std::uint64_t kDriftMessagesMin = 500;
// It has drifted once it was off by more than this factor from what the trees were planned for, in so many windows in a
// row.
inline constexpr double kDriftFactor = 2.0;
inline constexpr int kDriftWindows = 3;
// Trees that one live plan may look at: a few milliseconds in all, since the leader does nothing else meanwhile.
inline constexpr std::int64_t kReplanEvaluations = 500;
inline constexpr std::int64_t kInitialEvaluations = 20'000;  // likewise, per root, before the instance serves

static_assert(kStoppedChecks < kSlowChecks && kReturnChecks <= kReturnChecksMax);

}  // namespace ingot
