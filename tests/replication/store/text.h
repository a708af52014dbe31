// Requests and results of the store as JSON, for scenario files and for messages of failed tests. Field names are those
// of etcd's JSON, so that the same files can be sent to etcd; keys and values are plain text; zero, false and empty
// fields are left out.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "replication/store/api.h"

namespace ingot::kv {

using Json = nlohmann::ordered_json;

// {"put":{...}}, {"range":{...}}, {"delete_range":{...}}, {"txn":{...}}, {"compact":{...}}, {"hash":{...}},
// {"alarm":{...}} or {"events":{...}}.
Json to_json(const Request& request);
Json to_json(const Result& result);  // a failure: {"error": etcd's text}

// Throws nlohmann::json's exceptions, or std::runtime_error, if the text is not a request.
Request request_from_json(const Json& json);

}  // namespace ingot::kv
