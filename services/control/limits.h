// Bounds of the control plane, and what happens when one is reached.
#pragma once

namespace ingot::inline services_control {

inline constexpr int kStatusWatchersMax = 64;      // WatchStatus streams; further ones are RESOURCE_EXHAUSTED
inline constexpr int kStatusPollMs = 50;           // how late a watcher may see a change; no polls without watchers
inline constexpr int kStatusIntervalMsDefault = 1000;  // between answers that differ in progress only
inline constexpr int kStatusIntervalMsMax = 3600 * 1000;  // a longer interval is cut to this

}  // namespace ingot::services_control
