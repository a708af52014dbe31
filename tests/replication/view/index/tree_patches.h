// Memory of an ordered tree that is damaged in a given way, then read, adopted and changed: for fuzzing.
#pragma once

#include <string>
#include <string_view>

#include "core/prng.h"

namespace ingot::test {

// A store is made and left in the middle of a batch; then each 12 bytes of `patches` change a word of a node: u32
// place, u64 value. The node's check is made right again, and so is a word's own. Then the memory is read, adopted and
// used. Aborts where that leads to a failed check; no access may leave the memory, and each walk ends. Returns what was
// found: "damage", "garbage", or the keys.
std::string run_tree_patches(std::string_view patches);

std::string sample_tree_patches(Prng& prng);

}  // namespace ingot::test
