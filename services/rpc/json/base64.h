// Base64 that comes in parts, which Abseil does not decode.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::rpc::inline json {

// Of RFC 4648: both alphabets, with or without padding, and line ends in between. A pure state machine.
class Base64Decoder {
 public:
  // Appends what the text says. False: it is not base64.
  bool read(std::string_view text, std::string& bytes);
  // Appends what is left. False: the text does not end here. Begins anew.
  bool end(std::string& bytes);

 private:
  std::uint32_t bits_ = 0;
  int digits_ = 0;   // of a group of four
  int padding_ = 0;  // characters; no digit follows them
};

}  // namespace ingot::rpc::json
