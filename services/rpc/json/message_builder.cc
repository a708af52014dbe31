#include "services/rpc/json/message_builder.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/check.h"
#include "services/rpc/json/limits.h"

namespace ingot::rpc::inline json {
namespace {

using Field = google::protobuf::FieldDescriptor;
using google::protobuf::Descriptor;

constexpr std::uint32_t kVarint = 0;  // wire types
constexpr std::uint32_t kBytes = 2;
constexpr std::size_t kLengthBytes = 4;

bool is_enum(const Field& field) { return field.type() == Field::TYPE_ENUM; }

bool is_whole_number(const Field& field) {
  switch (field.type()) {
    case Field::TYPE_INT32:
    case Field::TYPE_INT64:
    case Field::TYPE_UINT32:
    case Field::TYPE_UINT64:
      return true;
    default:
      return false;
  }
}

bool is_text(const Field& field) { return field.type() == Field::TYPE_STRING || field.type() == Field::TYPE_BYTES; }

const char* wanted(const Field& field) {
  switch (field.type()) {
    case Field::TYPE_MESSAGE:
      return "an object";
    case Field::TYPE_BYTES:
      return "base64 in quotes";
    case Field::TYPE_STRING:
      return "text in quotes";
    case Field::TYPE_BOOL:
      return "true or false";
    case Field::TYPE_ENUM:
      return "a name in quotes, or a number";
    default:
      return "a whole number";
  }
}

// Null: no such field.
const Field* find_field(const Descriptor& type, std::string_view name) {
  const std::string text(name);
  const Field* field = type.FindFieldByName(text);
  return field != nullptr ? field : type.FindFieldByCamelcaseName(text);
}

template <typename Number>
bool parse(std::string_view digits, Number low, Number high, std::uint64_t& wire) {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < low || number > high) return false;
  wire = static_cast<std::uint64_t>(number);
  return true;
}

bool parse_number(const Field& field, std::string_view digits, std::uint64_t& wire) {
  switch (field.type()) {
    case Field::TYPE_INT64:
      return parse<std::int64_t>(digits, INT64_MIN, INT64_MAX, wire);
    case Field::TYPE_UINT64:
      return parse<std::uint64_t>(digits, 0, UINT64_MAX, wire);
    case Field::TYPE_UINT32:
      return parse<std::uint64_t>(digits, 0, UINT32_MAX, wire);
    default:  // int32, and numbers of enums
      return parse<std::int64_t>(digits, INT32_MIN, INT32_MAX, wire);
  }
}

}  // namespace

void MessageBuilder::clear() {
  wire_.clear();
  objects_.clear();
  word_.clear();
  ignored_ = 0;
  in_string_ = false;
}

bool MessageBuilder::refuse(std::string_view why) {
  fault_.assign(why);
  return false;
}

bool MessageBuilder::refuse_value(std::string_view given) {
  const Field& field = *objects_.back().field;
  const char* list = field.is_repeated() && !objects_.back().in_list ? "a list: each is " : "";
  return refuse(absl::StrCat(field.full_name(), " takes ", list, wanted(field), ", not ",
                             absl::string_view(given.data(), given.size())));
}

bool MessageBuilder::bounded() {
  too_large_ = wire_.size() > message_bytes_max_;
  return !too_large_;
}

void MessageBuilder::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) wire_.push_back(static_cast<char>(value | 0x80));
  wire_.push_back(static_cast<char>(value));
}

void MessageBuilder::tag(const Field& field) {
  const bool bytes = field.type() == Field::TYPE_MESSAGE || is_text(field);
  varint(static_cast<std::uint64_t>(field.number()) << 3 | (bytes ? kBytes : kVarint));
}

std::size_t MessageBuilder::begin_length() {
  wire_.append(kLengthBytes, '\0');
  return wire_.size() - kLengthBytes;
}

void MessageBuilder::end_length(std::size_t at) {
  std::size_t length = wire_.size() - at - kLengthBytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7) {
    wire_[at + i] = static_cast<char>((length & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
  }
}

// A value of the object's field has come: once, unless it is one of a list, and no other of its oneof.
bool MessageBuilder::mark(Object& object) {
  if (object.in_list) return true;
  const Field& field = *object.field;
  const std::uint64_t bit = std::uint64_t{1} << field.index();
  if ((object.seen & bit) != 0) return refuse(absl::StrCat(field.full_name(), " is there twice"));
  object.seen |= bit;
  const auto* oneof = field.containing_oneof();
  if (oneof == nullptr) return true;
  const std::uint64_t oneof_bit = std::uint64_t{1} << oneof->index();
  if ((object.seen_oneofs & oneof_bit) != 0) {
    return refuse(absl::StrCat("only one field of ", oneof->full_name(), " may be there; ", field.name(),
                               " is the second"));
  }
  object.seen_oneofs |= oneof_bit;
  return true;
}

// REQUIRES: the value is not passed over.
bool MessageBuilder::value_begins(bool of_this_kind, std::string_view given) {
  Object& object = objects_.back();
  if (!of_this_kind || object.field->is_repeated() != object.in_list) return refuse_value(given);
  if (!mark(object)) return false;
  tag(*object.field);
  return true;
}

void MessageBuilder::begin_object(const Descriptor& type, std::size_t length_at) {
  INGOT_CHECK(type.field_count() <= 64, "each field of a message has its bit");
  objects_.push_back({&type, length_at});
}

bool MessageBuilder::object_begins() {
  if (objects_.empty()) {
    begin_object(type_, 0);
    return true;
  }
  if (passed_over()) {
    ++ignored_;
    return true;
  }
  const Field* const field = objects_.back().field;
  if (!value_begins(field->type() == Field::TYPE_MESSAGE, "an object")) return false;
  begin_object(*field->message_type(), begin_length());
  return bounded();
}

bool MessageBuilder::object_ends() {
  if (ignored_ > 0) {
    --ignored_;
    return true;
  }
  const std::size_t at = objects_.back().length_at;
  objects_.pop_back();
  if (!objects_.empty()) end_length(at);
  return true;
}

bool MessageBuilder::list_begins() {
  if (objects_.empty()) return refuse("a message is an object, not a list");
  if (passed_over()) {
    ++ignored_;
    return true;
  }
  Object& object = objects_.back();
  if (!object.field->is_repeated() || object.in_list) return refuse_value("a list");
  if (!mark(object)) return false;
  object.in_list = true;
  return true;
}

bool MessageBuilder::list_ends() {
  if (ignored_ > 0) {
    --ignored_;
  } else {
    objects_.back().in_list = false;
  }
  return true;
}

bool MessageBuilder::key(std::string_view name) {
  if (ignored_ == 0) objects_.back().field = find_field(*objects_.back().type, name);
  return true;
}

bool MessageBuilder::string_begins() {
  if (objects_.empty()) return refuse("a message is an object, not a string");
  if (passed_over()) return true;
  const Field& field = *objects_.back().field;
  if (!value_begins(is_text(field) || is_whole_number(field) || is_enum(field), "a string")) return false;
  if (is_text(field)) string_length_at_ = begin_length();
  return true;
}

bool MessageBuilder::string_part(std::string_view part) {
  if (!in_string_ && !string_begins()) return false;
  in_string_ = true;
  if (passed_over()) return true;
  const Field& field = *objects_.back().field;
  if (field.type() == Field::TYPE_BYTES) {
    if (!base64_.read(part, wire_)) return refuse(absl::StrCat(field.full_name(), " is not base64"));
  } else if (field.type() == Field::TYPE_STRING) {
    wire_.append(part);
  } else {
    if (word_.size() + part.size() > kJsonWordBytesMax) return refuse_value("such a long text");
    word_.append(part);
  }
  return bounded();
}

bool MessageBuilder::string_ends() {
  in_string_ = false;
  if (passed_over()) return true;
  const Field& field = *objects_.back().field;
  if (field.type() == Field::TYPE_BYTES && !base64_.end(wire_)) {
    return refuse(absl::StrCat(field.full_name(), " is not base64: its end is missing"));
  }
  if (is_text(field)) {
    end_length(string_length_at_);
    return bounded();
  }
  const std::string word = std::move(word_);
  word_.clear();
  return is_enum(field) ? enum_name(word) : whole_number(word);
}

bool MessageBuilder::enum_name(std::string_view name) {
  const Field& field = *objects_.back().field;
  const auto* value = field.enum_type()->FindValueByName(std::string(name));
  if (value == nullptr) return refuse_value(absl::StrCat("\"", absl::string_view(name.data(), name.size()), "\""));
  varint(static_cast<std::uint64_t>(std::int64_t{value->number()}));
  return bounded();
}

bool MessageBuilder::whole_number(std::string_view digits) {
  std::uint64_t wire = 0;
  if (!parse_number(*objects_.back().field, digits, wire)) {
    return refuse_value(absl::StrCat("\"", absl::string_view(digits.data(), digits.size()), "\""));
  }
  varint(wire);
  return bounded();
}

bool MessageBuilder::number(std::string_view digits, bool whole) {
  if (objects_.empty()) return refuse("a message is an object, not a number");
  if (passed_over()) return true;
  const Field& field = *objects_.back().field;
  const bool fits = whole && (is_whole_number(field) || is_enum(field));
  return value_begins(fits, whole ? "a number" : "a fraction") && whole_number(digits);
}

bool MessageBuilder::boolean(bool value) {
  if (objects_.empty()) return refuse("a message is an object, not true or false");
  if (passed_over()) return true;
  if (!value_begins(objects_.back().field->type() == Field::TYPE_BOOL, value ? "true" : "false")) return false;
  varint(value ? 1 : 0);
  return bounded();
}

bool MessageBuilder::null() {
  if (objects_.empty()) return refuse("a message is an object, not null");
  if (passed_over() || !objects_.back().in_list) return true;
  return refuse_value("null");
}

}  // namespace ingot::rpc::json
