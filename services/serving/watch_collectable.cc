#include "services/serving/watch_collectable.h"

#include "services/serving/loop_families.h"

namespace ingot::inline services_serving {
namespace {

using watch::WatchCounters;

const std::vector<LoopFamily<WatchCounters>>& shown() {
  static const std::vector<LoopFamily<WatchCounters>> all{
      {gauge_family("ingot_watch_streams", "Open streams of watches."), nullptr, {{"", &WatchCounters::streams}}},
      {gauge_family("ingot_watches", "Watches of clients."), nullptr, {{"", &WatchCounters::watches}}},
      {gauge_family("ingot_watches_behind", "Watches that have not been sent all events up to the present."), nullptr,
       {{"", &WatchCounters::behind}}},
      {counter_family("ingot_watches_created_total", "Watches that were created."), nullptr,
       {{"", &WatchCounters::created}}},
      {counter_family("ingot_watches_refused_total", "Requests for watches that were refused."), nullptr,
       {{"", &WatchCounters::refused}}},
      {counter_family("ingot_watches_canceled_total", "Watches that the server has ended, by reason."), "why",
       {{"compacted", &WatchCounters::canceled_compacted}, {"too-wide", &WatchCounters::canceled_too_wide}}},
      {counter_family("ingot_watch_streams_stalled_total", "Streams that were ended since their clients did not read."),
       nullptr, {{"", &WatchCounters::streams_stalled}}},
      {counter_family("ingot_watch_responses_total", "Responses with events that were sent to watches."), nullptr,
       {{"", &WatchCounters::responses}}},
      {counter_family("ingot_watch_events_total", "Events that were sent to watches."), nullptr,
       {{"", &WatchCounters::events}}},
      {counter_family("ingot_watch_events_read_total", "Events that were read from replicas."), nullptr,
       {{"", &WatchCounters::events_read}}},
      {counter_family("ingot_watch_feed_queries_total", "Queries for events of the present that replicas were asked."),
       nullptr, {{"", &WatchCounters::feed_queries}}},
      {counter_family("ingot_watch_pages_total", "Queries for events of the past that replicas were asked."), nullptr,
       {{"", &WatchCounters::pages}}},
  };
  return all;
}

}  // namespace

std::vector<prometheus::MetricFamily> WatchCollectable::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  for (const LoopFamily<WatchCounters>& each : shown()) families.push_back(family_of(each, loops_));
  return families;
}

}  // namespace ingot::services_serving
