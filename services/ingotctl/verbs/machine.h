// Runs `ingotctl machine`: measures, derives, shows and checks the costs of messages between cores.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace ingot {

// All print to standard output; errors are one sentence, INVALID_ARGUMENT for defects of a file.

struct MeasureArguments {
  int samples = 2000;
  std::string name = "this-machine";
};
absl::Status run_machine_measure(const MeasureArguments& arguments);

struct DeriveArguments {
  std::string topology;  // hwloc's notation; empty: this machine
  bool hyperthreads = false;
  bool scc = false;
  std::string name;  // empty: "derived", or the SCC's own
};
absl::Status run_machine_derive(const DeriveArguments& arguments);

struct ShowArguments {
  std::string file;
  std::string output = "table";  // table | json | svg
};
absl::Status run_machine_show(const ShowArguments& arguments);

struct CheckArguments {
  std::string file;
};
absl::Status run_machine_check(const CheckArguments& arguments);

}  // namespace ingot
