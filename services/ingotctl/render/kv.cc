#include "services/ingotctl/render/kv.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// Length of the valid UTF-8 sequence at the start of `bytes`; 0: none. Overlong forms and surrogates are not valid.
std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

void add_bytes(nlohmann::ordered_json& json, const std::string& name, const std::string& bytes) {
  if (is_utf8(bytes))
    json[name] = bytes;
  else
    json[name + "_base64"] = absl::Base64Escape(bytes);
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const auto first = static_cast<unsigned char>(bytes.front());
    if (length > 1) {
      text.append(bytes.substr(0, length));
    } else if (length == 0 || first < 0x20 || first == 0x7f || first == '\\') {
      absl::StrAppend(&text, first == '\n'   ? "\\n"
                             : first == '\t' ? "\\t"
                             : first == '\\' ? "\\\\"
                                             : absl::StrCat("\\x", absl::Hex(first, absl::kZeroPad2)));
    } else {
      text.push_back(bytes.front());
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

nlohmann::ordered_json key_value_json(const mvccpb::KeyValue& kv, bool with_value) {
  nlohmann::ordered_json json;
  add_bytes(json, "key", kv.key());
  json["create_revision"] = kv.create_revision();
  json["mod_revision"] = kv.mod_revision();
  json["version"] = kv.version();
  json["lease"] = kv.lease();
  if (with_value) add_bytes(json, "value", kv.value());
  return json;
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::string(1, '\0');
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

}  // namespace ingot
