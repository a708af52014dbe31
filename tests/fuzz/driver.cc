// Runs the fuzz targets on seeded mutations of valid inputs, with any compiler. Prints the seed before each target, so
// that a crash can be repeated.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "services/cli/cli.h"
#include "tests/fuzz/targets.h"
#include "tests/seeds.h"

namespace {

using ingot::Prng;

struct Options {
  std::optional<std::uint64_t> seed;
  std::uint64_t count = 2000;
  std::string target;
  std::string corpus;
  std::string last;
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

// Returns the number of inputs.
int run_corpus(const ingot::fuzz::Target& target, const std::string& corpus) {
  int inputs = 0;
  std::error_code missing;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(corpus) / target.name, missing)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    std::cout << target.name << ": " << file.path().string() << std::endl;
    target.run(bytes);
    ++inputs;
  }
  return inputs;
}

absl::Status run(const Options& options) {
  int run = 0;
  const std::uint64_t seed = options.seed ? *options.seed : ingot::testing::drawn_seed();
  for (const ingot::fuzz::Target& target : ingot::fuzz::targets()) {
    if (!options.target.empty() && options.target != target.name) continue;
    if (!options.corpus.empty() && run_corpus(target, options.corpus) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(options.corpus, "/", target.name, " has no inputs"));
    }
    std::cout << target.name << ": --seed=" << seed << " --count=" << options.count << std::endl;
    Prng rng(seed);
    for (std::uint64_t i = 0; i < options.count; i += target.cost) {
      const std::string input = mutate(target.sample(rng), rng);
      if (!options.last.empty()) std::ofstream(options.last, std::ios::binary) << input;
      target.run(input);
    }
    ++run;
  }
  return run > 0 ? absl::OkStatus() : absl::InvalidArgumentError("there is no target " + options.target);
}

std::string target_names() {
  std::string names;
  for (const ingot::fuzz::Target& target : ingot::fuzz::targets()) absl::StrAppend(&names, " ", target.name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the fuzz targets on seeded mutations of valid inputs. tests/fuzz/run.sh is guided by coverage.");
  Options options;
  app.add_option("--seed", options.seed, "of the mutations; default: a new one, which is printed");
  app.add_option("--count", options.count, "inputs for each target")->capture_default_str();
  app.add_option("--target", options.target, "only this one; default: all");
  app.add_option("--corpus", options.corpus, "the inputs in FOLDER/TARGET come first")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("FOLDER");
  app.add_option("--last", options.last, "each input is written there before it is run: the one that failed is kept")
      ->type_name("FILE");
  app.footer("Targets:" + target_names());
  return ingot::run_cli(app, argc, argv, [&] { return run(options); });
}
