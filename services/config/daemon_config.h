// What an instance was started with. Shared by the supervisor, which checks it, and the front end, which serves it.
#pragma once

#include <cstdint>
#include <string>

namespace ingot {

inline constexpr const char* kIngotVersion = "0.3.0";
// What Maintenance.Status and /version report: some etcd clients refuse to talk to anything older.
inline constexpr const char* kEtcdVersionDefault = "3.4.23";

struct DaemonConfig {
  std::string name;                  // of the instance; default "ingot-PORT"
  std::string listen = "127.0.0.1:2379";
  std::string metrics_listen = "127.0.0.1:9464";
  std::string agreement = "1paxos";  // 1paxos | 2pc | multipaxos
  std::string transport = "nvp";     // nvp | srbp
  std::string backend = "shm";       // shm
  std::string isolation = "process";  // process | thread
  bool fence = false;  // kill a stopped acceptor when leader and acceptor are both stopped: GroupConfig::fencing
  std::string etcd_version = kEtcdVersionDefault;
  std::string tree = "best";  // shape of the trees that broadcasts travel on: replication/replica/trees/plan.h
  std::string machine;        // machine file that they are planned from; empty: derived from this machine's topology
  int replicas = 3;
  int voters = 3;
  std::int64_t orphan_grace_ms = 30'000;  // how long its processes go on without a supervisor; 0: they leave at once
  std::uint64_t cluster_id = 1;  // never 0: derived from the name
  std::uint64_t member_id = 1;   // never 0
};

}  // namespace ingot
