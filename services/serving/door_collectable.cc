#include "services/serving/door_collectable.h"

#include <utility>

#include "services/serving/loop_families.h"

namespace ingot::inline services_serving {
namespace {

using rpc::ServerCounters;

const std::vector<LoopFamily<ServerCounters>>& shown() {
  static const std::vector<LoopFamily<ServerCounters>> all{
      {gauge_family("ingot_door_connections", "Open connections of clients."), nullptr,
       {{"", &ServerCounters::connections_open}}},
      {counter_family("ingot_door_connections_accepted_total", "Clients' connections that were accepted."), nullptr,
       {{"", &ServerCounters::connections_accepted}}},
      {counter_family("ingot_door_connections_ended_total", "Connections that the server ended, by reason."), "why",
       {{"flooding", &ServerCounters::ended_flooding},
        {"stalled", &ServerCounters::ended_stalled},
        {"silent", &ServerCounters::ended_silent},
        {"malformed", &ServerCounters::ended_malformed}}},
      {counter_family("ingot_door_accepts_delayed_total",
                      "Times at which no connection could be accepted for a while."),
       nullptr, {{"", &ServerCounters::accepts_delayed}}},
      {counter_family("ingot_door_calls_begun_total", "Calls that have begun."), nullptr,
       {{"", &ServerCounters::calls_begun}}},
      {counter_family("ingot_door_calls_ended_total", "Calls that have ended, by how."), "how",
       {{"finished", &ServerCounters::calls_finished},
        {"cancelled", &ServerCounters::calls_cancelled},
        {"overdue", &ServerCounters::calls_overdue},
        {"refused", &ServerCounters::calls_refused}}},
      {counter_family("ingot_door_calls_delayed_total", "Calls that could not begin at once."), nullptr,
       {{"", &ServerCounters::calls_waited}}},
      {gauge_family("ingot_door_held_bytes", "Bytes that are kept for clients, by what they are."), "what",
       {{"heads", &ServerCounters::held_heads},
        {"requests", &ServerCounters::held_requests},
        {"answers", &ServerCounters::held_answers},
        {"http2", &ServerCounters::held_http2}}},
      {counter_family("ingot_door_received_bytes_total", "Bytes received from clients."), nullptr,
       {{"", &ServerCounters::received_bytes}}},
      {counter_family("ingot_door_sent_bytes_total", "Bytes sent to clients."), nullptr,
       {{"", &ServerCounters::sent_bytes}}},
      {counter_family("ingot_door_reads_total", "System calls that read from clients."), nullptr,
       {{"", &ServerCounters::reads}}},
      {counter_family("ingot_door_writes_total", "System calls that wrote to clients."), nullptr,
       {{"", &ServerCounters::writes}}},
  };
  return all;
}

}  // namespace

std::vector<prometheus::MetricFamily> DoorCollectable::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  for (const LoopFamily<ServerCounters>& each : shown()) families.push_back(family_of(each, loops_));
  prometheus::MetricFamily passed =
      gauge_family("ingot_door_passed_calls", "Open calls that are passed on to gRPC C++.");
  add_value(passed, {}, static_cast<double>(passed_.open()));
  families.push_back(std::move(passed));
  return families;
}

}  // namespace ingot::services_serving
