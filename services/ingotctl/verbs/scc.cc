#include "services/ingotctl/verbs/scc.h"

#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/ingot/control/v1/scc.grpc.pb.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/chip_picture.h"
#include "services/ingotctl/render/scc.h"
#include "transport/scc/geometry.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

using ::ingot::control::v1::GetChipResponse;
using ::ingot::control::v1::Scc;

// Calls a method that a daemon with the host's backend does not serve.
template <typename Call>
absl::Status call_chip(const Connection& connection, const CtlOptions& options, Call make_call) {
  grpc::StatusCode code = grpc::StatusCode::OK;
  const absl::Status status = connection.call([&](grpc::ClientContext* context) {
    const grpc::Status answer = make_call(context);
    code = answer.error_code();
    return answer;
  });
  if (code != grpc::StatusCode::UNIMPLEMENTED) return status;
  return absl::UnknownError(absl::StrCat("the daemon at ", options.endpoint,
                                         " does not run on the simulated chip; start one with ingotd --backend=scc"));
}

absl::Status run_heatmap(const CtlOptions& options, const std::string& form) {
  const Connection connection(options);
  const auto stub = Scc::NewStub(connection.channel());
  GetChipResponse chip;
  const absl::Status status = call_chip(connection, options, [&](grpc::ClientContext* context) {
    return stub->GetChip(context, {}, &chip);
  });
  if (!status.ok()) return status;
  if (chip.cores_size() != scc::kCores || chip.memory_controllers_size() != scc::kControllers) {
    return absl::UnknownError("the daemon's answer is not that of a chip; use the ingotctl that came with it");
  }
  std::cout << (form == "svg" ? chip_picture(chip) : form == "json" ? chip_json(chip) + "\n" : chip_table(chip));
  return absl::OkStatus();
}

}  // namespace

void register_scc(CLI::App& app, Command& chosen) {
  CLI::App* group = app.add_subcommand("scc", "The simulated Intel SCC below a daemon (ingotd --backend=scc)");
  group->require_subcommand(1);
  group->fallthrough();

  static std::string form = "svg";
  CLI::App* heatmap =
      group->add_subcommand("heatmap", "Show the load of the mesh's links and the message buffers' ports");
  add_form(*heatmap, form, {"svg", "table", "json"}, "How to print: svg, table or json");
  heatmap->footer(
      "Examples:\n"
      "  ingotctl scc heatmap > load.svg\n"
      "  ingotctl scc heatmap -o table");
  heatmap->callback([&chosen] { chosen = [](const CtlOptions& o) { return run_heatmap(o, form); }; });
}

}  // namespace ingot::services_ingotctl_verbs
