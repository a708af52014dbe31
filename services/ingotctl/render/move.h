// Prints moves as text or JSON.
#pragma once

#include <string>

#include "services/ingotctl/move_watch.h"

namespace ingot::inline services_ingotctl_render {

// "replica 2 leads (epoch 1, ballot 6)", "replica 2 leads already (...)" or "nobody leads", in the last status that
// `watch` has seen.
std::string holder_text(const MoveWatch& watch, const std::string& role);

// One line of JSON: {"role","to","asked","done","holder","epoch","ballot"}; the last three are null with --no-wait.
std::string move_json(const std::string& role, int to, const control_v1::MoveResponse& begun, const MoveWatch* watch);

}  // namespace ingot::services_ingotctl_render
