// The entry points that libFuzzer calls, for the target that INGOT_FUZZ_TARGET names. Without one, prints the names of
// all targets and leaves.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/targets.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace {

const ingot::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("INGOT_FUZZ_TARGET");
  for (const ingot::fuzz::Target& each : ingot::fuzz::targets()) {
    if (name == nullptr) std::puts(each.name);
    if (name != nullptr && std::string_view(name) == each.name) target = &each;
  }
  if (target == nullptr) std::exit(name == nullptr ? 0 : 2);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Sometimes restarts from a valid input: random bytes never form a snapshot with a valid digest.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned int seed) {
  ingot::Prng rng(seed);
  if (size <= 1 || rng.chance(0.02)) {
    const std::string sample = target->sample(rng);
    size = std::min(size_max, sample.size());
    std::copy_n(sample.data(), size, data);
    if (rng.chance(0.5)) return size;
  }
  return LLVMFuzzerMutate(data, size, size_max);
}
