// What JSON's parser has found, as a message on the wire. The half of JsonReader that knows messages.
//
//     the text          {"key": "Zm9v", "limit": 2}
//     the wire          tag, length in four bytes, "foo"; tag, 2
//
// A length is known only at the end of the bytes that it counts. So four bytes are left free for it and are filled
// then; a varint may have more bytes than it needs. Nothing is moved or copied, however deep the message is.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/rpc/json/base64.h"

namespace ingot::rpc::inline json {

// A function that returns false has refused the text; fault() or too_large() says why. Not thread-safe.
class MessageBuilder {
 public:
  MessageBuilder(const google::protobuf::Descriptor& type, std::size_t message_bytes_max)
      : type_(type), message_bytes_max_(message_bytes_max) {}

  bool object_begins();
  bool object_ends();
  bool list_begins();
  bool list_ends();
  bool key(std::string_view name);
  // In any number of parts.
  bool string_part(std::string_view part);
  bool string_ends();
  bool number(std::string_view digits, bool whole);
  bool boolean(bool value);
  bool null();

  const std::string& message() const { return wire_; }
  const std::string& fault() const { return fault_; }
  bool too_large() const { return too_large_; }
  void clear();

 private:
  using Field = google::protobuf::FieldDescriptor;
  struct Object {
    const google::protobuf::Descriptor* type;
    std::size_t length_at;          // of its length in wire_
    std::uint64_t seen = 0;         // a bit for each field, by its index
    std::uint64_t seen_oneofs = 0;  // likewise
    const Field* field = nullptr;   // whose value comes next; null: an unknown one
    bool in_list = false;
  };

  // Whether the next value is of an unknown field, or within one. REQUIRES: an object has begun.
  bool passed_over() const { return ignored_ > 0 || objects_.back().field == nullptr; }
  void begin_object(const google::protobuf::Descriptor& type, std::size_t length_at);
  bool refuse(std::string_view why);
  bool refuse_value(std::string_view given);
  bool mark(Object& object);
  bool value_begins(bool of_this_kind, std::string_view given);
  bool string_begins();
  bool whole_number(std::string_view digits);
  bool enum_name(std::string_view name);
  void tag(const Field& field);
  void varint(std::uint64_t value);
  std::size_t begin_length();
  void end_length(std::size_t at);
  bool bounded();

  const google::protobuf::Descriptor& type_;
  const std::size_t message_bytes_max_;
  std::string wire_;
  std::vector<Object> objects_;
  std::size_t ignored_ = 0;  // objects and lists that are open within an unknown field
  bool in_string_ = false;
  std::size_t string_length_at_ = 0;
  Base64Decoder base64_;
  std::string word_;  // in quotes: a number, or an enum's name
  std::string fault_;
  bool too_large_ = false;
};

}  // namespace ingot::rpc::json
