// Prints keys and values as text or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "proto/etcd/rpc.pb.h"

namespace ingot::inline services_ingotctl_render {

// {"key","create_revision","mod_revision","version","lease","value"}; a key or value that is not UTF-8 is in
// "key_base64" or "value_base64" instead.
nlohmann::ordered_json key_value_json(const mvccpb::KeyValue& kv, bool with_value = true);

// The end of the range of all keys that begin with `prefix`, in etcd's form: the prefix up to its last byte below 0xff,
// with that byte incremented, or "\0" if there is none.
std::string prefix_end(std::string prefix);

// Print the answer of a verb to standard output: a table and a summary, or with `json` one line of JSON. Without
// `with_values` only the keys are shown; `prev_kv` says that previous values were requested.
void print_range(const etcdserverpb::RangeResponse& response, bool with_values, bool json);
void print_put(const etcdserverpb::PutResponse& response, bool prev_kv, bool json);
void print_deleted(const etcdserverpb::DeleteRangeResponse& response, bool prev_kv, bool json);

// Print lines of a watch to standard output, without flushing it. JSON: {"type":"watching","revision"}, and
// {"type":"put"|"delete","revision","kv"}, with "prev_kv" (or null) if it was requested; a delete's kv has its key only.
void print_watching(std::int64_t revision, bool json);
void print_event(const mvccpb::Event& event, bool prev_kv, bool json);

}  // namespace ingot::services_ingotctl_render
