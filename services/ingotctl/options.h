// Flags common to all verbs of ingotctl.
#pragma once

#include <chrono>
#include <string>

namespace ingot::inline services_ingotctl {

struct CtlOptions {
  std::string endpoint = "127.0.0.1:2379";
  std::string output = "table";                                  // table | json
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);  // for one answer; a watch has no limit

  bool json() const { return output == "json"; }
};

}  // namespace ingot::services_ingotctl
