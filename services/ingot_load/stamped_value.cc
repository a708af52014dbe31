#include "services/ingot_load/stamped_value.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace ingot::load {
namespace {

constexpr std::size_t kWriterAt = 9, kSequenceAt = 14, kKeyAt = 27, kChecksumAt = 36;
static_assert(kChecksumAt + 8 == kStampBytes);

// Takes eight bytes a step, since values may have a mebibyte. Detects accidents, not attacks.
std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), 8);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), n);
    hash = (hash ^ word) * 0x9fb21c651e98df25;
    hash ^= hash >> 32;
    bytes.remove_prefix(n);
  }
  return hash;
}

void put_hex(char* out, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
}

// Accepts lower case only, so that every flipped bit is detected.
std::optional<std::uint64_t> get_hex(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// Fills `out` from `from` on with text that differs from write to write, so that the checksum reveals a value pieced
// together from two.
void fill(std::string& out, std::size_t from, std::uint64_t sequence) {
  static const std::string alphabet = [] {
    std::string text(4096, ' ');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
    return text;
  }();
  std::size_t start = sequence % 23;
  while (from < out.size()) {
    const std::size_t n = std::min(out.size() - from, alphabet.size() - start);
    std::memcpy(out.data() + from, alphabet.data() + start, n);
    from += n;
    start = 0;
  }
}

std::uint32_t key_hash(std::string_view key) { return static_cast<std::uint32_t>(mix(key.size(), key)); }

// The hash of the value without the checksum's own digits.
std::uint32_t checksum(std::string_view value) {
  const std::uint64_t head = mix(value.size(), value.substr(0, kChecksumAt));
  return static_cast<std::uint32_t>(mix(head, value.substr(kStampBytes)));
}

}  // namespace

void make_value(const Stamp& stamp, std::string_view key, std::size_t size, std::string& out) {
  INGOT_CHECK(stamp.id.sequence >> 48 == 0);
  out.assign(std::max(size, kStampBytes), '.');
  put_hex(out.data(), 8, stamp.run);
  put_hex(out.data() + kWriterAt, 4, stamp.id.writer);
  put_hex(out.data() + kSequenceAt, 12, stamp.id.sequence);
  put_hex(out.data() + kKeyAt, 8, key_hash(key));
  fill(out, kStampBytes + 1, stamp.id.sequence);
  put_hex(out.data() + kChecksumAt, 8, checksum(out));
  out.resize(size);
}

std::optional<Stamp> read_stamp(std::string_view key, std::string_view value) {
  if (value.size() < kStampBytes) return std::nullopt;
  const auto run = get_hex(value.substr(0, 8));
  const auto writer = get_hex(value.substr(kWriterAt, 4));
  const auto sequence = get_hex(value.substr(kSequenceAt, 12));
  const auto hash = get_hex(value.substr(kKeyAt, 8));
  const auto sum = get_hex(value.substr(kChecksumAt, 8));
  if (!run || !writer || !sequence || !hash || !sum) return std::nullopt;
  if (*hash != key_hash(key) || *sum != checksum(value)) return std::nullopt;
  return Stamp{static_cast<std::uint32_t>(*run), {static_cast<std::uint16_t>(*writer), *sequence}};
}

}  // namespace ingot::load
