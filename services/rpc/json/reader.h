// From JSON to Protocol Buffers' wire format, part by part as the text comes.
//
// A field goes by its name in the .proto file or by that in camel case. 64-bit integers come as numbers or in quotes,
// bytes as base64 (either alphabet, with or without padding), enums by name or number. A null is a field that is not
// there. Unknown fields are passed over. A key that comes twice, two members of a oneof, and a null within a list are
// refused: what such a request means would be a guess.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ingot::rpc::inline json {

// Keeps the message as far as it has come, never its text. Not thread-safe.
class JsonReader {
 public:
  enum class Result : std::uint8_t {
    kMore,      // all text is taken, and no object is complete
    kMessage,   // message() is the next one
    kFault,     // fault() says what is wrong; nothing more can be read
    kTooLarge,  // likewise: the message would have more than `message_bytes_max`
  };

  // `type` outlives the reader.
  JsonReader(const google::protobuf::Descriptor& type, std::size_t message_bytes_max);
  ~JsonReader();

  // Takes text from the front of `text`, up to the end of the next object.
  Result read(std::string_view& text);

  // After kMessage, until the next call. Lengths in it take four bytes each, whatever they are.
  const std::string& message() const;
  const std::string& fault() const;

  // False: an object has begun and is not complete. At the end of the text that is a fault.
  bool between_messages() const;
  std::size_t kept_bytes() const;  // of an object that is not complete

  // Forgets all.
  void reset();

 private:
  class Text;

  const google::protobuf::Descriptor& type_;
  const std::size_t message_bytes_max_;
  std::unique_ptr<Text> text_;  // null: forgotten
};

}  // namespace ingot::rpc::json
