// Bounds of a view's publisher, and what happens at them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/view/generation/limits.h"
#include "services/config/limits.h"

namespace ingot::inline services_view_publisher {

// A source whose generation is being replaced asks for changes once in so long, since the next generation's source has
// the standing question, of which a session has one at a time.
inline constexpr std::uint64_t kPollChangesMs = 10;
// After a question that no replica has answered, another one is asked after so long.
inline constexpr std::uint64_t kLookAgainMs = 100;

// While something waits for time, makers get a tick once in so long.
inline constexpr std::uint64_t kMakerTickMs = 2;

// Before a generation that cannot be made is begun anew. The first value is doubled up to the second one.
inline constexpr std::uint64_t kMakeAgainFirstMs = 200;
inline constexpr std::uint64_t kMakeAgainMaxMs = 10'000;

// While a connection asks for the view's age, a read barrier is sent once in so long.
inline constexpr std::uint64_t kBarrierMs = 100;

// The publisher's niceness (setpriority), and how much sooner than others the kernel ends it for want of memory
// (oom_score_adj): what it keeps can be made anew.
inline constexpr int kPublisherNice = 5;
inline constexpr int kPublisherOomScore = 900;

static_assert(kViewBytesLimitMax <= static_cast<std::int64_t>(kGenerationBytesMax));

}  // namespace ingot::services_view_publisher
