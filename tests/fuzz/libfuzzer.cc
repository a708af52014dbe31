// The entry points that libFuzzer calls, for one target: libfuzzer.sh names its functions.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ingot::fuzz::INGOT_FUZZ_RUN({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Sometimes restarts from a valid input: random bytes never form a snapshot with a valid digest.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned int seed) {
  ingot::Prng rng(seed);
  if (size <= 1 || rng.chance(0.02)) {
    const std::string sample = ingot::fuzz::INGOT_FUZZ_SAMPLE(rng);
    size = std::min(size_max, sample.size());
    std::copy_n(sample.data(), size, data);
    if (rng.chance(0.5)) return size;
  }
  return LLVMFuzzerMutate(data, size, size_max);
}
