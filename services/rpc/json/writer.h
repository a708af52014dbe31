// From Protocol Buffers' wire format to JSON, as etcd's gateway writes it: fields by their names in the .proto file,
// 64-bit integers in quotes, bytes as base64, enums by name; what has its default value is left out.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>

namespace ingot::rpc::inline json {

// Appends the message. False: it is none of this type, or one with floating-point numbers or groups, which etcd's
// messages do not have; then some of it may be there. REQUIRES: the values of a list stand together, as Protocol
// Buffers writes them.
bool append_json(const google::protobuf::Descriptor& type, std::string_view message, std::string& json);

// Appends `text` in quotes. What is not UTF-8 becomes U+FFFD.
void append_json_string(std::string& json, std::string_view text);

}  // namespace ingot::rpc::json
