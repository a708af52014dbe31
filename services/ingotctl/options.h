// What every command of ingotctl is told on the command line.
#pragma once

#include <chrono>
#include <string>

namespace ingot {

struct CtlOptions {
  std::string endpoint = "127.0.0.1:2379";
  std::string output = "table";                                  // table | json
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);  // for one answer; a watch has none

  bool json() const { return output == "json"; }
};

}  // namespace ingot
