// A generation whose words change between a reader's reads, as bytes of an input say, for fuzzing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/prng.h"

namespace ingot::test {

// A command of a fuzzer's input: a read (kinds below kPatchReads), or a place and what its word becomes.
struct PatchCommand {
  std::uint64_t command = 0;  // 16 bits: the kind, and most of the place
  std::uint64_t value = 0;

  std::uint64_t kind() const { return command % 16; }
  std::uint64_t changed(std::uint64_t word) const {
    return kind() < 12 ? value : kind() < 14 ? word ^ value : word + (value & 0xff);
  }
};
inline constexpr std::uint64_t kPatchReads = 8;

// Takes the next command of ten bytes off; nothing: fewer are left.
std::optional<PatchCommand> take_patch(std::string_view& bytes);
std::string sample_patches(Prng& prng);

// The bytes are commands: a read, or a word of the generation and what it becomes. A read may have
// any outcome; it must end, stay inside (no page is behind the memory), and hold no more than its bounds.
void run_generation_patches(std::string_view bytes);

}  // namespace ingot::test
