#include "services/ingotctl/render/lock.h"

#include <iostream>

#include <nlohmann/json.hpp>

#include "services/ingotctl/render/kv.h"
#include "services/ingotctl/render/lease.h"

namespace ingot::inline services_ingotctl_render {

void print_locked(const std::string& key, std::int64_t revision, std::int64_t lease, bool json) {
  if (!json) {
    std::cout << key << "\n";
    return;
  }
  mvccpb::KeyValue held;
  held.set_key(key);
  nlohmann::ordered_json object;
  const nlohmann::ordered_json named = key_value_json(held, false);
  for (const char* name : {"key", "key_base64"}) {
    if (named.contains(name)) object[name] = named[name];
  }
  object["revision"] = revision;
  object["lease"] = lease_name(lease);
  std::cout << object.dump() << "\n";
}

void print_leader(const mvccpb::KeyValue& leader, bool json) {
  if (json) {
    std::cout << key_value_json(leader).dump() << "\n";
  } else {
    std::cout << leader.key() << "\n" << leader.value() << "\n";
  }
}

}  // namespace ingot::services_ingotctl_render
