// Where the parts of an NVP inbox lie, by lines; nvp_channel.h says what each is for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline transport {

struct NvpLayout {
  int endpoints;                 // S: 1 to kChannelEndpointsMax
  int slots_per_sender;          // K: a power of two, 1 to 128
  std::uint32_t bulk_bytes = 0;  // B: whole lines

  constexpr std::uint32_t vector_lines(std::size_t line_bytes) const { return lines_for(endpoints, line_bytes); }
  constexpr std::uint32_t credit_lines(std::size_t line_bytes) const { return lines_for(4 * endpoints, line_bytes); }
  constexpr std::uint32_t first_slot(std::size_t line_bytes) const {
    return vector_lines(line_bytes) + credit_lines(line_bytes);
  }
  constexpr std::uint32_t inbox_lines(std::size_t line_bytes) const {
    return first_bulk(line_bytes) + static_cast<std::uint32_t>(endpoints * slots_per_sender) * area_lines(line_bytes);
  }
  constexpr std::uint32_t first_bulk(std::size_t line_bytes) const {
    return first_slot(line_bytes) + static_cast<std::uint32_t>(endpoints * slots_per_sender);
  }
  constexpr std::uint32_t area_lines(std::size_t line_bytes) const {
    return bulk_bytes / static_cast<std::uint32_t>(line_bytes);
  }

 private:
  static constexpr std::uint32_t lines_for(int bytes, std::size_t line_bytes) {
    return static_cast<std::uint32_t>((static_cast<std::size_t>(bytes) + line_bytes - 1) / line_bytes);
  }
};

}  // namespace ingot::transport
