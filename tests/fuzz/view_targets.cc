#include "tests/fuzz/targets.h"
#include "tests/replication/view/generation/patches.h"
#include "tests/replication/view/handle/hostile_view.h"

namespace ingot::fuzz {

void run_generation(std::string_view bytes) { test::run_generation_patches(bytes); }
std::string sample_generation(Prng& rng) { return test::sample_patches(rng); }

void run_view(std::string_view bytes) { test::run_hostile_view(bytes); }
std::string sample_view(Prng& rng) { return test::sample_patches(rng); }

}  // namespace ingot::fuzz
