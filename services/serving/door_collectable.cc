#include "services/serving/door_collectable.h"

#include <string>
#include <utility>

#include "services/metrics/families.h"

namespace ingot {

namespace {

using prometheus::MetricFamily;
using rpc::ServerCounters;
using Cell = Counter ServerCounters::*;

// One value a loop or, with a label, one for each of its cells.
struct Shown {
  const char* name;
  const char* help;
  const char* label = nullptr;
  std::vector<std::pair<const char*, Cell>> cells;
};

const std::vector<Shown>& shown() {
  static const std::vector<Shown> all{
      {"ingot_door_connections_accepted_total", "Clients' connections that were accepted.", nullptr,
       {{"", &ServerCounters::connections_accepted}}},
      {"ingot_door_connections_ended_total", "Connections that the server ended, by reason.", "why",
       {{"flooding", &ServerCounters::ended_flooding},
        {"stalled", &ServerCounters::ended_stalled},
        {"silent", &ServerCounters::ended_silent},
        {"malformed", &ServerCounters::ended_malformed}}},
      {"ingot_door_accepts_delayed_total", "Times at which no connection could be accepted for a while.", nullptr,
       {{"", &ServerCounters::accepts_delayed}}},
      {"ingot_door_calls_begun_total", "Calls that have begun.", nullptr, {{"", &ServerCounters::calls_begun}}},
      {"ingot_door_calls_ended_total", "Calls that have ended, by how.", "how",
       {{"finished", &ServerCounters::calls_finished},
        {"cancelled", &ServerCounters::calls_cancelled},
        {"overdue", &ServerCounters::calls_overdue},
        {"refused", &ServerCounters::calls_refused}}},
      {"ingot_door_calls_delayed_total", "Calls that could not begin at once.", nullptr,
       {{"", &ServerCounters::calls_waited}}},
      {"ingot_door_received_bytes_total", "Bytes received from clients.", nullptr,
       {{"", &ServerCounters::received_bytes}}},
      {"ingot_door_sent_bytes_total", "Bytes sent to clients.", nullptr, {{"", &ServerCounters::sent_bytes}}},
      {"ingot_door_reads_total", "System calls that read from clients.", nullptr, {{"", &ServerCounters::reads}}},
      {"ingot_door_writes_total", "System calls that wrote to clients.", nullptr, {{"", &ServerCounters::writes}}},
  };
  return all;
}

}  // namespace

std::vector<MetricFamily> DoorCollectable::Collect() const {
  std::vector<MetricFamily> families;
  MetricFamily open = gauge_family("ingot_door_connections", "Open connections of clients.");
  for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
    add_value(open, {{"loop", std::to_string(loop)}}, static_cast<double>(loops_[loop]->connections_open.get()));
  }
  families.push_back(std::move(open));
  for (const Shown& each : shown()) {
    MetricFamily family = counter_family(each.name, each.help);
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
      for (const auto& [value, cell] : each.cells) {
        std::vector<prometheus::ClientMetric::Label> labels{{"loop", std::to_string(loop)}};
        if (each.label != nullptr) labels.push_back({each.label, value});
        add_value(family, std::move(labels), static_cast<double>((loops_[loop]->*cell).get()));
      }
    }
    families.push_back(std::move(family));
  }
  MetricFamily passed = gauge_family("ingot_door_passed_calls", "Open calls that are passed on to gRPC C++.");
  add_value(passed, {}, static_cast<double>(passed_.open()));
  families.push_back(std::move(passed));
  return families;
}

}  // namespace ingot
