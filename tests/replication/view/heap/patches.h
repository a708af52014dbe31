// Memory of a heap that is damaged in a given way, then adopted and used: for fuzzing.
#pragma once

#include <string>
#include <string_view>

#include "core/prng.h"

namespace ingot::test {

// A store is made and left in the middle of a batch; then each 12 bytes of `patches` change a word: u32 place, u64
// value. A place whose lowest bit is set gets the value as the content of a checked word; the value 1 << n flips a bit.
// Then the memory is adopted, used and read. Aborts where that leads to a failed check; no access may leave the memory.
// Returns what was found: "refused", "damage", or the state.
std::string run_patches(std::string_view patches);

std::string sample_patches(Prng& prng);

}  // namespace ingot::test
