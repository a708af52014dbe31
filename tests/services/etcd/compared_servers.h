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
  int count = 1000;     // of the requests
  bool of_3_6 = false;  // one of the servers is etcd 3.6, and what it does otherwise than 3.4 is not compared

  // REQUIRES: this object outlives the app's parsing.
  void add_flags(CLI::App& app) {
    app.add_option("--a", a, "HOST:PORT of one server")->required()->check(host_port().description(""));
    app.add_option("--b", b, "HOST:PORT of the other")->required()->check(host_port().description(""));
    app.add_option("--seed", seed, "of the requests")->capture_default_str();
    app.add_option("--count", count, "of the requests")->capture_default_str();
  }

  // Of those programs that can.
  void add_3_6_flag(CLI::App& app) {
    app.add_flag("--of-3-6", of_3_6,
                 "one is etcd 3.6: which of several faults of a transaction is told is not compared; watches send no "
                 "progress requests, to which it gives no answer while a watch of the stream is not up to date");
  }
};

}  // namespace ingot
