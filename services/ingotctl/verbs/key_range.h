// The flags by which a verb of ingotctl chooses keys.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "services/ingotctl/render/kv.h"

namespace ingot::inline services_ingotctl_verbs {

// Selects one key, keys with a prefix, keys from one on, or keys from one up to another.
struct KeyArguments {
  std::string key;
  std::string range_end;
  bool prefix = false;
  bool from_key = false;
};

// `keys` outlives the parse.
void add_key_options(CLI::App& command, KeyArguments& keys);

// As a range's begin, an empty key means the first key, which is "\0" in etcd's form; alone it is sent as it is, and
// the daemon refuses it.
template <typename Request>
void set_keys(const KeyArguments& keys, Request& request) {
  std::string key = keys.key, end = keys.range_end;
  if (keys.prefix) end = prefix_end(key);
  if (keys.from_key) end = std::string(1, '\0');
  if (key.empty() && !end.empty()) key = std::string(1, '\0');
  request.set_key(key);
  request.set_range_end(end);
}

}  // namespace ingot::services_ingotctl_verbs
