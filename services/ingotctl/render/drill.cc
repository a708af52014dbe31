#include "services/ingotctl/render/drill.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "services/cli/table.h"
#include "services/ingotctl/render/status.h"

namespace ingot::inline services_ingotctl_render {

namespace {

using nlohmann::ordered_json;

ordered_json hit_json(const control_v1::Hit& hit) {
  const bool replica = hit.process() == control_v1::Hit::PROCESS_REPLICA;
  ordered_json json{{"process", process_name(hit.process())}};
  json["id"] = replica ? ordered_json(hit.replica()) : ordered_json();
  json["pid"] = hit.pid();
  json["incarnation"] = replica ? ordered_json(hit.incarnation()) : ordered_json();
  json["role"] = replica ? ordered_json(role_name(hit.role())) : ordered_json();
  return json;
}

double gap_ms(const control_v1::Outage& outage) {
  return static_cast<double>(outage.gap().seconds()) * 1e3 + outage.gap().nanos() * 1e-6;
}

}  // namespace

std::string process_name(control_v1::Hit::Process process) {
  switch (process) {
    case control_v1::Hit::PROCESS_FRONT_END:
      return "front-end";
    case control_v1::Hit::PROCESS_SUPERVISOR:
      return "supervisor";
    default:
      return "replica";
  }
}

std::string drill_json(const std::string& action, const control_v1::DrillResponse& told) {
  ordered_json json{{"action", action}, {"hits", ordered_json::array()}, {"outage", nullptr}};
  for (const auto& hit : told.hits()) json["hits"].push_back(hit_json(hit));
  if (told.has_outage()) json["outage"] = {{"gap_ms", gap_ms(told.outage())}, {"writes", told.outage().writes()}};
  return json.dump();
}

std::string drill_table(const control_v1::DrillResponse& told) {
  using enum Table::Align;
  Table table({{"process", kLeft}, {"id", kRight}, {"pid", kRight}, {"incarnation", kRight}, {"role", kLeft}});
  for (const auto& hit : told.hits()) {
    const bool replica = hit.process() == control_v1::Hit::PROCESS_REPLICA;
    table.add_row({process_name(hit.process()), replica ? absl::StrCat(hit.replica()) : "-", absl::StrCat(hit.pid()),
                   replica ? absl::StrCat(hit.incarnation()) : "-",
                   replica ? std::string(role_name(hit.role())) : "-"});
  }
  return table.str();
}

std::string outage_line(const control_v1::Outage& outage) {
  char gap[32];
  std::snprintf(gap, sizeof gap, "%.3f", gap_ms(outage));
  return absl::StrCat("no write was committed for ", gap, " ms (measured by the front end with ", outage.writes(),
                      outage.writes() == 1 ? " empty transaction" : " empty transactions, one after the other", ")\n");
}

}  // namespace ingot::services_ingotctl_render
