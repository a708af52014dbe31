// Keys and values as text.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "proto/etcd/rpc.pb.h"

namespace ingot {

// For a table's cell: control characters, line breaks and bytes that are not UTF-8 appear as \n, \t, \\ or \xNN.
std::string printable(std::string_view bytes);

// {"key","create_revision","mod_revision","version","lease","value"}; a key or value that is not UTF-8 stands in
// "key_base64" or "value_base64" instead.
nlohmann::ordered_json key_value_json(const mvccpb::KeyValue& kv, bool with_value = true);

// The end of the range of all keys that begin with `prefix`, as etcd's API wants it: the prefix with its last byte
// that can grow grown by one, or "\0" if there is none.
std::string prefix_end(std::string prefix);

}  // namespace ingot
