// Bounds of what processes read from each other's pages, with their units.
#pragma once

#include <cstdint>

namespace ingot::inline replication_pages {

// For so long after a change of the doubts each poll of a reader tells the present ones again. A stopped process's last
// messages may arrive after the first time, and each is taken for a sign of life. Afterwards the silence decides.
inline constexpr std::uint64_t kDoubtRepeatNs = 100'000'000;

}  // namespace ingot::replication_pages
