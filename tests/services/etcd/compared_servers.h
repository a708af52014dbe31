// Flags of the programs that compare two servers of etcd's API.
#pragma once

#include <cstdint>
#include <string>

#include "services/cli/cli.h"
#include "services/cli/endpoint.h"

namespace ingot {

struct ComparedServers {
  std::string a, b;  // HOST:PORT
  std::uint64_t seed = 1;
  int count = 1000;  // of the requests

  // REQUIRES: this object outlives the app's parsing.
  void add_flags(CLI::App& app) {
    app.add_option("--a", a, "HOST:PORT of one server")->required()->check(host_port().description(""));
    app.add_option("--b", b, "HOST:PORT of the other")->required()->check(host_port().description(""));
    app.add_option("--seed", seed, "of the requests")->capture_default_str();
    app.add_option("--count", count, "of the requests")->capture_default_str();
  }
};

}  // namespace ingot
