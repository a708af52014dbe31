// bench/local_read: what a read of a key, or of a hundred, costs a process on the same machine, from a view's
// generation and from what else such a process may use, while nothing or somebody writes.
//
// The stores take turns, so that what else the machine does meets all of them. Flags and output; the stores are beside.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "bench/local_read/stores.h"
#include "bench/statistics.h"
#include "core/check.h"
#include "core/prng.h"
#include "services/cli/cli.h"

namespace {

using namespace ingot;
using namespace ingot::bench;

constexpr std::size_t kValueBytes = 64;
constexpr std::size_t kRangeKeys = 100;
constexpr std::size_t kDrawn = std::size_t{1} << 18;  // keys of reads, drawn before
constexpr double kZipf = 0.99;
constexpr std::size_t kRedisShare = 20;  // of the reads that others make: each of its reads takes two system calls

struct Flags {
  std::vector<std::size_t> keys = {1000, 100'000, 1'000'000};
  std::vector<std::string> stores = {"view", "map", "locked_map", "lmdb"};
  std::vector<std::string> operations = {"get", "range"};
  std::vector<std::string> distributions = {"uniform", "zipf"};
  std::vector<std::string> writes = {"0", "10000", "max"};
  int turns = 7;
  std::size_t reads = 100'000;
  std::string output = "table";
};

struct Case {
  std::string operation, distribution, writes;
  std::size_t keys = 0;
};

// Of this thread's processor time, since others use the machine.
double processor_ns() {
  timespec now;
  INGOT_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::vector<std::string> all_keys(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "/keys/%010zu", i);
    keys.emplace_back(text);
  }
  return keys;
}

// Ranks of the zipf distribution lie anywhere among the keys.
std::vector<std::size_t> drawn_keys(std::size_t keys, const std::string& distribution) {
  Prng prng(1);
  std::vector<std::size_t> drawn(kDrawn);
  if (distribution == "uniform") {
    for (std::size_t& key : drawn) key = prng.below(keys);
    return drawn;
  }
  std::vector<double> sums(keys);
  double sum = 0;
  for (std::size_t i = 0; i < keys; ++i) sums[i] = sum += 1 / std::pow(static_cast<double>(i + 1), kZipf);
  std::vector<std::size_t> place(keys);
  std::iota(place.begin(), place.end(), std::size_t{0});
  for (std::size_t i = keys; i > 1; --i) std::swap(place[i - 1], place[prng.below(i)]);
  for (std::size_t& key : drawn) {
    const auto rank = std::lower_bound(sums.begin(), sums.end(), prng.unit() * sum) - sums.begin();
    key = place[std::min(static_cast<std::size_t>(rank), keys - 1)];
  }
  return drawn;
}

std::unique_ptr<ReadStore> make_store(const std::string& name, std::size_t keys) {
  const std::size_t bytes = std::size_t{64} << 20 | (keys * 512 & ~std::size_t{4095});
  if (name == "view") return make_view_store(bytes);
  if (name == "lmdb") return make_lmdb_store(2 * bytes);
  if (name == "redis") return make_redis_store();
  return make_map_store(name == "locked_map");
}

// Writes keys while it lives, so many a second.
class Writer {
 public:
  Writer(ReadStore& store, const std::vector<std::string>& keys, const std::string& rate) {
    if (rate == "0") return;
    thread_ = std::thread([this, &store, &keys, rate] {
      const double per_s = rate == "max" ? std::numeric_limits<double>::infinity() : std::stod(rate);
      Prng prng(2);
      const auto begun = std::chrono::steady_clock::now();
      while (!stop_) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun;
        if (static_cast<double>(puts_) > since.count() * per_s) {
          std::this_thread::sleep_for(std::chrono::microseconds(100));
          continue;
        }
        store.put(keys[prng.below(keys.size())], std::string(kValueBytes, static_cast<char>('a' + puts_ % 26)));
        ++puts_;
      }
    });
  }
  ~Writer() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t puts() const { return puts_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> puts_{0};
  std::thread thread_;
};

struct Measured {
  std::string store;
  std::unique_ptr<ReadStore> made;
  std::vector<double> read_ns, wall_ns, puts_per_s;
};

void measure(Measured& of, const Case& what, const std::vector<std::string>& keys,
             const std::vector<std::size_t>& drawn, std::size_t reads) {
  const Writer writer(*of.made, keys, what.writes);
  const bool range = what.operation == "range";
  if (range) reads /= kRangeKeys / 4;
  if (of.store == "redis") reads /= kRedisShare;
  std::size_t bytes = 0;
  const auto begun = std::chrono::steady_clock::now();
  const double begun_ns = processor_ns();
  for (std::size_t i = 0; i < reads; ++i) {
    const std::string& key = keys[drawn[i % drawn.size()]];
    bytes += range ? of.made->range(key, kRangeKeys) : of.made->get(key);
  }
  const double taken_ns = processor_ns() - begun_ns;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  INGOT_CHECK(bytes >= reads * kValueBytes, "each key has its value");
  of.read_ns.push_back(taken_ns / static_cast<double>(reads));
  of.wall_ns.push_back(wall.count() * 1e9 / static_cast<double>(reads));
  of.puts_per_s.push_back(static_cast<double>(writer.puts()) / wall.count());
}

void report(const Flags& flags, const Case& what, const Measured& of) {
  const Quantiles read = quantiles_of(of.read_ns);
  const Quantiles wall = quantiles_of(of.wall_ns);
  const auto puts = static_cast<std::uint64_t>(quantiles_of(of.puts_per_s).median);
  if (flags.output == "table") {
    std::printf("%-6s %8zu keys  %-8s writes %-6s  %-11s %9.0f ns (%.0f to %.0f)  wall %9.0f ns  %9d puts/s\n",
                what.operation.c_str(), what.keys, what.distribution.c_str(), what.writes.c_str(), of.store.c_str(),
                read.median, read.p10, read.p90, wall.median, static_cast<int>(puts));
    std::fflush(stdout);
    return;
  }
  const nlohmann::ordered_json object = {
      {"benchmark", "local_read"},   {"store", of.store},      {"operation", what.operation},
      {"keys", what.keys},           {"distribution", what.distribution}, {"writes", what.writes},
      {"writes_per_s", puts},        {"read_ns", read.median}, {"read_ns_p10", read.p10},
      {"read_ns_p90", read.p90},     {"wall_ns", wall.median}};
  std::cout << object.dump() << "\n" << std::flush;
}

absl::Status run(const Flags& flags) {
  const std::string value(kValueBytes, 'v');
  for (const std::size_t count : flags.keys) {
    const std::vector<std::string> keys = all_keys(count);
    std::vector<Measured> stores;
    for (const std::string& name : flags.stores) {
      stores.push_back({name, make_store(name, count), {}, {}, {}});
      stores.back().made->load(keys, value);
    }
    for (const std::string& distribution : flags.distributions) {
      const std::vector<std::size_t> drawn = drawn_keys(count, distribution);
      for (const std::string& operation : flags.operations) {
        for (const std::string& writes : flags.writes) {
          const Case what{operation, distribution, writes, count};
          for (int turn = 0; turn < flags.turns; ++turn) {
            for (Measured& of : stores) {
              if (of.store == "map" && writes != "0") continue;
              if (operation == "range" && !of.made->has_ranges()) continue;
              measure(of, what, keys, drawn, flags.reads);
            }
          }
          for (Measured& of : stores) {
            if (!of.read_ns.empty()) report(flags, what, of);
            of.read_ns.clear(), of.wall_ns.clear(), of.puts_per_s.clear();
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What local reads cost: a view's generation beside a hash map, one behind a lock, LMDB, and Redis.",
               "local_read");
  Flags flags;
  app.add_option("--keys", flags.keys, "numbers of keys")
      ->delimiter(',')
      ->check(whole_number(100, 4'000'000))
      ->capture_default_str();
  app.add_option("--stores", flags.stores, "what is read")
      ->delimiter(',')
      ->check(one_of({"view", "map", "locked_map", "lmdb", "redis"}))
      ->capture_default_str();
  app.add_option("--operations", flags.operations, "get: a key; range: 100 keys")
      ->delimiter(',')
      ->check(one_of({"get", "range"}))
      ->capture_default_str();
  app.add_option("--distributions", flags.distributions, "which keys are read")
      ->delimiter(',')
      ->check(one_of({"uniform", "zipf"}))
      ->capture_default_str();
  app.add_option("--writes", flags.writes, "a second, by another thread; max: as many as it can")
      ->delimiter(',')
      ->check(one_of({"0", "1000", "10000", "100000", "max"}))
      ->capture_default_str();
  app.add_option("--turns", flags.turns, "of each store")->check(whole_number(1, 1000))->capture_default_str();
  app.add_option("--reads", flags.reads, "of a key in a turn; of ranges a twenty-fifth")
      ->check(whole_number(1000, 100'000'000))
      ->capture_default_str();
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
  app.footer(
      "Keys have 16 bytes, values 64. The figure is the median of the turns, in the reading thread's processor time;\n"
      "wall is the time that passed. A plain map is read without writes alone. redis needs Debian's redis-server,\n"
      "makes a twentieth of the reads, has no ranges, and waits for most of its time: look at wall.\n"
      "Example: local_read --keys=100000 --operations=get --writes=0 -o json");
  return run_cli(app, argc, argv, [&] { return run(flags); });
}
