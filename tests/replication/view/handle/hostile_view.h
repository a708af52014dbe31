// A view whose board and generation change between a handle's reads, as bytes of an input say, for fuzzing.
#pragma once

#include <string_view>

namespace ingot::test {

// The bytes are commands (PatchCommand): a read by the handle, or a word of the board or of the generation and what
// it becomes. A read may end with any error; it must end, stay inside, hold no more than its bounds, and never go back
// in time.
void run_hostile_view(std::string_view bytes);

}  // namespace ingot::test
