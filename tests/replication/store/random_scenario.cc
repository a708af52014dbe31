// Prints a random scenario with the store's answers, in the format of the files in scenarios/, for the script that
// sends the same requests to etcd.
#include <cstdint>
#include <iostream>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "replication/store/kv_store.h"
#include "services/cli/cli.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"

namespace ingot::kv {
namespace {

absl::Status run(std::uint64_t seed, std::uint64_t count) {
  RandomRequests random(seed);
  KvStore store;
  for (std::uint64_t left = count; left > 0; --left) {
    const Request request = random.next(store.revision());
    const auto result = decode_result(store.apply(Slot(0), encode(request)));
    std::cout << "> " << to_json(request).dump() << "\n" << to_json(*result).dump() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot::kv

int main(int argc, char** argv) {
  CLI::App app("Prints a random scenario: requests, and the results of our own store.");
  std::uint64_t seed = 1, count = 1;
  app.add_option("SEED", seed, "of the requests")->required()->type_name("");
  app.add_option("COUNT", count, "of the requests")->required()->type_name("");
  app.footer(
      "To compare the results with etcd's:\n"
      "  random_scenario 7 1000 | tests/replication/store/record_scenarios.py --check -");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::kv::run(seed, count); });
}
