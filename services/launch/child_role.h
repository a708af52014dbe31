// What a process of an instance is for.
#pragma once

#include <string>
#include <vector>

namespace ingot::inline services_launch {

inline constexpr const char* kFrontEndLabel = "the front end";
inline constexpr const char* kAllReplicasLabel = "the replicas' process";

struct ChildRole {
  std::string word;           // "replica", "replicas" or "front-end"
  std::string label;          // for messages: "replica 2"
  std::vector<int> replicas;  // ids of the replicas that it runs
  int endpoint = -1;          // the endpoint that its process is an incarnation of; -1: several, which end together
  bool front_end() const { return word == "front-end"; }

  static ChildRole replica(int id);
  static ChildRole all_replicas(int replicas);
  static ChildRole front_end(int replicas);
};

// The role of a process by its name (InstanceSocket::process). REQUIRES: `child` names a process of an instance.
ChildRole role_of(const std::string& child, int replicas);

}  // namespace ingot::services_launch
