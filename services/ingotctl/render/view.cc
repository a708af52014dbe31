#include "services/ingotctl/render/view.h"

#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "core/enum_names.h"
#include "services/cli/table.h"

namespace ingot::inline services_ingotctl_render {

namespace {

const char* name_of_publisher(WriterState state) {
  switch (state) {
    case WriterState::kNone:
      return "starting";
    case WriterState::kAlive:
      return "alive";
    case WriterState::kGone:
      return "dead";
  }
  return "unknown";
}

}  // namespace

void print_view(const ViewShown& view, bool json) {
  const NamedGeneration& generation = view.generation;
  if (json) {
    nlohmann::ordered_json object{{"state", name_of(view.state)},
                                  {"publisher", name_of_publisher(view.publisher)},
                                  {"generation", generation.number},
                                  {"why", name_of(generation.why)},
                                  {"revision", view.revision}};
    object["age_ms"] = view.age_ms ? nlohmann::ordered_json(*view.age_ms) : nlohmann::ordered_json();
    object["keys"] = view.keys;
    object["bytes"] = generation.bytes;
    object["cluster_id"] = std::to_string(view.identity);
    std::cout << object.dump() << "\n";
    return;
  }
  using enum Table::Align;
  Table table({{"generation", kRight}, {"why", kLeft}, {"revision", kRight}, {"age", kRight}, {"keys", kRight},
               {"bytes", kRight}, {"publisher", kLeft}, {"state", kLeft}});
  table.add_row({absl::StrCat(generation.number), name_of(generation.why), absl::StrCat(view.revision),
                 view.age_ms ? absl::StrCat(*view.age_ms, " ms") : "unknown", absl::StrCat(view.keys),
                 absl::StrCat(generation.bytes), name_of_publisher(view.publisher), name_of(view.state)});
  table.print(std::cout);
}

}  // namespace ingot::services_ingotctl_render
