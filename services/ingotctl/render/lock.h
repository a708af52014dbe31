// Prints who holds a lock or leads.
#pragma once

#include <cstdint>
#include <string>

#include "proto/etcd/kv.pb.h"

namespace ingot::inline services_ingotctl_render {

// Print to standard output. A lock: the line of its key, or with `json` {"key","revision","lease"}, the lease by its
// name. A leader: the lines of its key and its value, as etcdctl, or with `json` the object of a key (render/kv.h).
void print_locked(const std::string& key, std::int64_t revision, std::int64_t lease, bool json);
void print_leader(const mvccpb::KeyValue& leader, bool json);

}  // namespace ingot::services_ingotctl_render
