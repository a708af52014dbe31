// Prints what a view is at.
#pragma once

#include <cstdint>
#include <optional>

#include "replication/view/board/board.h"

namespace ingot::inline services_ingotctl_render {

struct ViewShown {
  BoardState state = BoardState::kLive;
  WriterState publisher = WriterState::kNone;
  NamedGeneration generation;
  std::int64_t revision = 0;
  std::optional<std::int64_t> age_ms;  // none: unknown
  std::uint64_t keys = 0;
  std::uint64_t identity = 0;
};

// A table, or {"state","publisher","generation","why","revision","age_ms","keys","bytes","cluster_id"}; age_ms is null
// if it is unknown.
void print_view(const ViewShown& view, bool json);

}  // namespace ingot::services_ingotctl_render
