#include "tests/fuzz/targets.h"
#include "tests/replication/view/heap/patches.h"
#include "tests/replication/view/index/tree_patches.h"

namespace ingot::fuzz {

void run_heap(std::string_view bytes) { test::run_patches(bytes); }
std::string sample_heap(Prng& rng) { return test::sample_patches(rng); }

void run_tree(std::string_view bytes) { test::run_tree_patches(bytes); }
std::string sample_tree(Prng& rng) { return test::sample_tree_patches(rng); }

}  // namespace ingot::fuzz
