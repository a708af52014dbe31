#include "services/rpc/json/reader.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>

#include "absl/strings/str_cat.h"
#include "services/rpc/json/limits.h"
#include "services/rpc/json/message_builder.h"

namespace ingot::rpc::inline json {
namespace {

namespace sax = boost::json;
using Error = sax::error_code;

// What Boost.JSON's parser calls.
class Events {
 public:
  Events(const google::protobuf::Descriptor& type, std::size_t message_bytes_max)
      : builder(type, message_bytes_max) {}

  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error& error) { return well(builder.object_begins(), error); }
  bool on_object_end(std::size_t, Error& error) { return well(builder.object_ends(), error); }
  bool on_array_begin(Error& error) { return well(builder.list_begins(), error); }
  bool on_array_end(std::size_t, Error& error) { return well(builder.list_ends(), error); }
  // A key that is longer than any field's is one of an unknown field.
  bool on_key_part(sax::string_view part, std::size_t, Error&) {
    const std::size_t room = kJsonWordBytesMax + 1 - std::min(key_.size(), kJsonWordBytesMax + 1);
    key_.append(part.data(), std::min(part.size(), room));
    return true;
  }
  bool on_key(sax::string_view part, std::size_t bytes, Error& error) {
    on_key_part(part, bytes, error);
    const bool result = builder.key(key_);
    key_.clear();
    return well(result, error);
  }
  bool on_string_part(sax::string_view part, std::size_t, Error& error) {
    return well(builder.string_part({part.data(), part.size()}), error);
  }
  bool on_string(sax::string_view part, std::size_t bytes, Error& error) {
    return on_string_part(part, bytes, error) && well(builder.string_ends(), error);
  }
  bool on_number_part(sax::string_view, Error&) { return true; }
  bool on_int64(std::int64_t number, sax::string_view, Error& error) {
    return well(builder.number(std::to_string(number), true), error);
  }
  bool on_uint64(std::uint64_t number, sax::string_view, Error& error) {
    return well(builder.number(std::to_string(number), true), error);
  }
  bool on_double(double, sax::string_view, Error& error) { return well(builder.number({}, false), error); }
  bool on_bool(bool value, Error& error) { return well(builder.boolean(value), error); }
  bool on_null(Error& error) { return well(builder.null(), error); }
  bool on_comment_part(sax::string_view, Error&) { return true; }
  bool on_comment(sax::string_view, Error&) { return true; }

  MessageBuilder builder;

 private:
  static bool well(bool result, Error& error) {
    if (!result) error = sax::error::exception;  // builder.fault() says more
    return result;
  }

  std::string key_;
};

sax::parse_options options() {
  sax::parse_options made;
  made.max_depth = kJsonDepthMax;
  return made;
}

bool is_space(char each) { return each == ' ' || each == '\n' || each == '\r' || each == '\t'; }

}  // namespace

class JsonReader::Text {
 public:
  Text(const google::protobuf::Descriptor& type, std::size_t message_bytes_max)
      : parser(options(), type, message_bytes_max) {}

  MessageBuilder& builder() { return parser.handler().builder; }

  sax::basic_parser<Events> parser;
  bool begun = false;  // an object, which is not complete
  std::string fault;
};

JsonReader::JsonReader(const google::protobuf::Descriptor& type, std::size_t message_bytes_max)
    : type_(type), message_bytes_max_(message_bytes_max) {}

JsonReader::~JsonReader() = default;

JsonReader::Result JsonReader::read(std::string_view& text) {
  if (text_ == nullptr) text_ = std::make_unique<Text>(type_, message_bytes_max_);
  if (!text_->begun) {
    text.remove_prefix(static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_space) - text.begin()));
    if (text.empty()) return Result::kMore;
    text_->parser.reset();
    text_->builder().clear();
    text_->begun = true;
  }
  sax::error_code error;
  text.remove_prefix(text_->parser.write_some(true, text.data(), text.size(), error));
  if (error.failed()) {
    const MessageBuilder& builder = text_->builder();
    text_->fault = builder.fault().empty() ? absl::StrCat("not JSON: ", error.message()) : builder.fault();
    return builder.too_large() ? Result::kTooLarge : Result::kFault;
  }
  if (!text_->parser.done()) return Result::kMore;
  text_->begun = false;
  return Result::kMessage;
}

const std::string& JsonReader::message() const { return text_->builder().message(); }
const std::string& JsonReader::fault() const { return text_->fault; }
bool JsonReader::between_messages() const { return text_ == nullptr || !text_->begun; }
std::size_t JsonReader::kept_bytes() const { return between_messages() ? 0 : text_->builder().message().size(); }
void JsonReader::reset() { text_.reset(); }

}  // namespace ingot::rpc::json
