// The methods of etcd's key-value service, by gRPC's paths.
#pragma once

#include <string>

namespace ingot::load {

inline const std::string kPutPath = "/etcdserverpb.KV/Put";
inline const std::string kRangePath = "/etcdserverpb.KV/Range";
inline const std::string kCompactPath = "/etcdserverpb.KV/Compact";

}  // namespace ingot::load
