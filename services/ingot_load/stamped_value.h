// Values that name the write they come from and its key, with a checksum.
//
//   run(8) . writer(4) . sequence(12) . key(8) . checksum(8) . filler to the wanted size
//
// The numbers are lower-case hexadecimal of that many digits; `key` is a hash of the key and `checksum` one of
// everything else. So a value read back identifies one write, and an exchanged, cut or flipped value is recognised
// without any other knowledge.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::load {

// Identifies one write within a run. A writer never uses a sequence number twice.
struct WriteId {
  std::uint16_t writer = 0;
  std::uint64_t sequence = 0;  // below 2^48
  auto operator<=>(const WriteId&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const WriteId& id) {
    return H::combine(std::move(h), id.writer, id.sequence);
  }
};

struct Stamp {
  std::uint32_t run = 0;  // random, so that runs do not take each other's values for their own
  WriteId id;
  bool operator==(const Stamp&) const = default;
};

// The smallest size of a value that read_stamp accepts.
inline constexpr std::size_t kStampBytes = 8 + 1 + 4 + 1 + 12 + 1 + 8 + 1 + 8;

// Writes a value of exactly `size` bytes into `out` (its memory is reused). Below kStampBytes the stamp is cut, and the
// value cannot be checked.
void make_value(const Stamp& stamp, std::string_view key, std::size_t size, std::string& out);

// The stamp of a value that make_value wrote for this key; nothing for any other value.
std::optional<Stamp> read_stamp(std::string_view key, std::string_view value);

}  // namespace ingot::load
