// What a process of an instance is for.
#pragma once

#include <string>
#include <vector>

#include "services/config/daemon_config.h"

namespace ingot::inline services_launch {

inline constexpr const char* kFrontEndLabel = "the front end";
inline constexpr const char* kAllReplicasLabel = "the replicas' process";
inline constexpr const char* kPublisherLabel = "the view's publisher";

struct ChildRole {
  std::string word;           // "replica", "replicas", "front-end" or "view"
  std::string label;          // for messages: "replica 2"
  std::vector<int> replicas;  // ids of the replicas that it runs
  int endpoint = -1;          // the endpoint that its process is an incarnation of; -1: several, which end together
  bool front_end() const { return word == "front-end"; }
  bool is_publisher() const { return word == "view"; }

  static ChildRole replica(int id);
  static ChildRole all_replicas(int replicas);
  static ChildRole front_end(int replicas);
  static ChildRole publisher(const DaemonConfig& config);
};

// The role of a process by its name (InstanceSocket::process). REQUIRES: `child` names a process of an instance.
ChildRole role_of(const std::string& child, const DaemonConfig& config);

}  // namespace ingot::services_launch
