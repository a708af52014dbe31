#include "tests/fuzz/targets.h"
#include "tests/replication/view/generation/patches.h"

namespace ingot::fuzz {

void run_generation(std::string_view bytes) { test::run_generation_patches(bytes); }
std::string sample_generation(Prng& rng) { return test::sample_generation_patches(rng); }

}  // namespace ingot::fuzz
