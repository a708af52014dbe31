#include "services/rpc/json/writer.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "services/rpc/json/limits.h"

namespace ingot::rpc::inline json {
namespace {

using Field = google::protobuf::FieldDescriptor;
using google::protobuf::Descriptor;

// A field of a message on the wire, and what follows it.
class Wire {
 public:
  explicit Wire(std::string_view message) : left_(message) {}

  bool empty() const { return left_.empty(); }

  // False: malformed. Then number() names the field, and one of the two others is its value.
  bool next() {
    std::uint64_t tag = 0;
    if (!read_varint(tag)) return false;
    number_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    if (is_varint()) return read_varint(value_);
    std::uint64_t length = type_ == 1 ? 8 : 4;
    if (is_bytes() ? !read_varint(length) : type_ != 1 && type_ != 5) return false;
    if (length > left_.size()) return false;
    bytes_ = left_.substr(0, length);
    left_.remove_prefix(length);
    return true;
  }

  int number() const { return number_; }
  bool is_varint() const { return type_ == 0; }
  bool is_bytes() const { return type_ == 2; }
  std::uint64_t value() const { return value_; }
  std::string_view bytes() const { return bytes_; }

 private:
  bool read_varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) return false;
      const auto octet = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= std::uint64_t{octet & 0x7fu} << shift;
      if (octet < 0x80) return true;
    }
    return false;
  }

  std::string_view left_;
  int number_ = 0;
  int type_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
};

bool append_object(const Descriptor& type, std::string_view message, std::size_t depth, std::string& json);

bool append_number(const Field& field, std::uint64_t value, std::string& json) {
  switch (field.type()) {
    case Field::TYPE_INT64:
      absl::StrAppend(&json, "\"", static_cast<std::int64_t>(value), "\"");
      return true;
    case Field::TYPE_UINT64:
      absl::StrAppend(&json, "\"", value, "\"");
      return true;
    case Field::TYPE_INT32:
      absl::StrAppend(&json, static_cast<std::int32_t>(value));
      return true;
    case Field::TYPE_UINT32:
      absl::StrAppend(&json, static_cast<std::uint32_t>(value));
      return true;
    case Field::TYPE_BOOL:
      json += value != 0 ? "true" : "false";
      return true;
    case Field::TYPE_ENUM: {
      const auto* named = field.enum_type()->FindValueByNumber(static_cast<int>(value));
      named != nullptr ? absl::StrAppend(&json, "\"", named->name(), "\"")
                       : absl::StrAppend(&json, static_cast<std::int32_t>(value));
      return true;
    }
    default:
      return false;
  }
}

bool append_value(const Field& field, const Wire& wire, std::size_t depth, std::string& json) {
  if (wire.is_varint()) return append_number(field, wire.value(), json);
  if (!wire.is_bytes()) return false;
  switch (field.type()) {
    case Field::TYPE_BYTES:
      absl::StrAppend(&json, "\"", absl::Base64Escape({wire.bytes().data(), wire.bytes().size()}), "\"");
      return true;
    case Field::TYPE_STRING:
      append_json_string(json, wire.bytes());
      return true;
    case Field::TYPE_MESSAGE:
      return append_object(*field.message_type(), wire.bytes(), depth + 1, json);
    default:
      return false;  // packed numbers, too
  }
}

// Left out of JSON: a default that the wire need not have had.
bool is_default(const Field& field, const Wire& wire) {
  if (field.is_repeated() || field.has_presence()) return false;
  return wire.is_varint() ? wire.value() == 0 : wire.bytes().empty();
}

bool append_object(const Descriptor& type, std::string_view message, std::size_t depth, std::string& json) {
  if (depth > kJsonDepthMax) return false;
  const Field* last = nullptr;
  json += '{';
  for (Wire wire(message); !wire.empty();) {
    if (!wire.next()) return false;
    const Field* field = type.FindFieldByNumber(wire.number());
    if (field == nullptr || is_default(*field, wire)) continue;
    if (field == last) {
      if (!field->is_repeated()) return false;
      json += ',';
    } else {
      if (last != nullptr) json += last->is_repeated() ? "]," : ",";
      absl::StrAppend(&json, "\"", field->name(), field->is_repeated() ? "\":[" : "\":");
    }
    last = field;
    if (!append_value(*field, wire, depth, json)) return false;
  }
  json += last != nullptr && last->is_repeated() ? "]}" : "}";
  return true;
}

}  // namespace

bool append_json(const Descriptor& type, std::string_view message, std::string& json) {
  return append_object(type, message, 1, json);
}

void append_json_string(std::string& json, std::string_view text) {
  json += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ingot::rpc::json
