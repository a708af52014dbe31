#include "services/launch/child_role.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ingot::inline services_launch {

ChildRole ChildRole::replica(int id) { return {"replica", absl::StrCat("replica ", id), {id}, id}; }

ChildRole ChildRole::all_replicas(int replicas) {
  ChildRole role{"replicas", kAllReplicasLabel, {}, -1};
  for (int id = 0; id < replicas; ++id) role.replicas.push_back(id);
  return role;
}

ChildRole ChildRole::front_end(int replicas) { return {"front-end", kFrontEndLabel, {}, replicas}; }

ChildRole ChildRole::publisher(const DaemonConfig& config) {
  return {"view", kPublisherLabel, {}, view_endpoint(config)};
}

ChildRole role_of(const std::string& child, const DaemonConfig& config) {
  if (child == "front-end") return ChildRole::front_end(config.replicas);
  if (child == "replicas") return ChildRole::all_replicas(config.replicas);
  if (child == "view") return ChildRole::publisher(config);
  int id = 0;
  (void)absl::SimpleAtoi(absl::StripPrefix(child, "replica/"), &id);
  return ChildRole::replica(id);
}

}  // namespace ingot::services_launch
