// Runs the fuzz targets on seeded mutations of valid inputs, with any compiler. Prints the seed before each target, so
// that a crash can be repeated: --seed=N --count=N --target=NAME (default: all targets).
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/fuzz/targets.h"

namespace {

using ingot::Prng;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t count = 2000;
  std::string target;
};

// Flips, cuts, repeats and overwrites bytes, often with extreme numbers, at which decoders fail.
std::string mutate(std::string bytes, Prng& rng) {
  static constexpr unsigned char kEdges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  for (std::uint64_t left = rng.below(6); left > 0; --left) {
    const std::size_t at = rng.below(bytes.size() + 1);
    switch (rng.below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, rng.below(12), static_cast<char>(rng.below(256)));
        break;
      case 2:
        bytes.append(bytes.substr(at));
        break;
      case 3:
        bytes.erase(at, rng.below(12));
        break;
      case 4:
        for (std::size_t i = at; i < bytes.size() && i < at + 4; ++i) {
          bytes[i] = static_cast<char>(kEdges[rng.below(std::size(kEdges))]);
        }
        break;
      default:
        if (at < bytes.size()) bytes[at] ^= static_cast<char>(1 << rng.below(8));
    }
  }
  return bytes;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--seed" && !value.empty()) {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--count" && !value.empty()) {
      options.count = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--target") {
      options.target = value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::cerr << "usage: fuzz_driver [--seed=N] [--count=N] [--target=NAME]\n";
    return 2;
  }
  int run = 0;
  for (const ingot::fuzz::Target& target : ingot::fuzz::targets()) {
    if (!options.target.empty() && options.target != target.name) continue;
    std::cout << target.name << ": --seed=" << options.seed << " --count=" << options.count << std::endl;
    Prng rng(options.seed);
    for (std::uint64_t i = 0; i < options.count; ++i) target.run(mutate(target.sample(rng), rng));
    ++run;
  }
  if (run == 0) {
    std::cerr << "there is no target " << options.target << "\n";
    return 2;
  }
  return 0;
}
