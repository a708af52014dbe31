// Bounds of the control plane, and what happens when one is reached.
#pragma once

namespace ingot::inline services_control {

// WatchStatus streams. A connection may have as many as are still free, and some of its own in any case; further ones
// are RESOURCE_EXHAUSTED.
inline constexpr int kStatusWatchersMax = 64;
inline constexpr int kStatusWatchersOwn = 1;
inline constexpr int kStatusPollMs = 50;           // how late a watcher may see a change; no polls without watchers
inline constexpr int kStatusIntervalMsDefault = 1000;  // between answers that differ in progress only
inline constexpr int kStatusIntervalMsMax = 3600 * 1000;  // a longer interval is cut to this

}  // namespace ingot::services_control
