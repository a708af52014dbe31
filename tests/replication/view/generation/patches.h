// A generation whose words change between a reader's reads, as bytes of an input say, for fuzzing.
#pragma once

#include <string>
#include <string_view>

#include "core/prng.h"

namespace ingot::test {

// The bytes are commands of ten bytes each: a read, or a word of the generation and what it becomes. A read may have
// any outcome; it must end, stay inside (no page is behind the memory), and hold no more than its bounds.
void run_generation_patches(std::string_view bytes);

std::string sample_generation_patches(Prng& prng);

}  // namespace ingot::test
