// What the ordered tree of one store costs, beside a std::map of the same keys.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/memory.h"
#include "replication/view/index/key_node.h"
#include "replication/view/index/tree.h"
#include "services/cli/cli.h"

namespace ingot {
namespace {

constexpr std::size_t kKeysMax = 4'000'000;
constexpr std::size_t kSteps = 200'000;  // of each sample
constexpr int kSamples = 5;
constexpr HeapIdentity kIdentity{.replica = 0, .chain_id = 1};

// Of this thread's processor time, since others may use the machine.
double ns_now() {
  timespec now;
  INGOT_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

enum class Keys { kRandom, kAscending };

std::vector<std::string> make_keys(Keys order, std::size_t count) {
  Prng prng(1);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "k/%014zu", i);
    keys.emplace_back(text, 16);
  }
  for (std::size_t i = count; order == Keys::kRandom && i > 1; --i) std::swap(keys[i - 1], keys[prng.below(i)]);
  return keys;
}

// The tree, with its key nodes in the heap.
class Tree {
 public:
  Tree(const std::vector<std::string>& keys, std::size_t batch)
      : keys_(keys), batch_(batch), memory_(*private_heap_memory((std::uint64_t{256} << 20) + keys.size() * 512)) {
    heap_ = *Heap::create(memory_->bytes(), kIdentity, 0);
    tree_ = std::make_unique<OrderedTree>(*heap_, root_);
    nodes_.resize(keys.size());
  }

  void add_node(std::size_t key) { nodes_[key] = *add_key(*heap_, keys_[key], {}); }
  void insert(std::size_t key) {
    INGOT_CHECK(tree_->insert(keys_[key], nodes_[key]));
    changed();
  }
  void erase(std::size_t key) {
    INGOT_CHECK(tree_->erase(keys_[key], nodes_[key]));
    changed();
  }
  HeapRef seek(std::size_t key) {
    TreeCursor cursor = tree_->cursor();
    INGOT_CHECK(cursor.seek(keys_[key]) == TreeStep::kKey);
    return cursor.key();
  }
  // Steps behind a key.
  void range(std::size_t key, std::size_t steps) {
    TreeCursor cursor = tree_->cursor();
    TreeStep step = cursor.seek(keys_[key]);
    for (; steps > 0 && step == TreeStep::kKey; --steps) step = cursor.next();
  }
  void publish() {
    heap_->set_user(root_);
    INGOT_CHECK(heap_->publish(++now_ms_));
    while (heap_->retire_queue().size() > 2 * kReclaimedMax && heap_->reclaim(now_ms_, [](const Retired&) {}) > 0) {
      INGOT_CHECK(heap_->publish(now_ms_));
    }
  }
  std::uint64_t bytes() const { return heap_->scalars().bytes_used - heap_->scalars().bytes_retired; }

 private:
  void changed() {
    if (++changes_ % batch_ == 0) publish();
  }

  const std::vector<std::string>& keys_;
  const std::size_t batch_;
  std::unique_ptr<HeapMemory> memory_;
  std::unique_ptr<Heap> heap_;
  TreeRoot root_;
  std::unique_ptr<OrderedTree> tree_;
  std::vector<HeapRef> nodes_;
  std::size_t changes_ = 0;
  std::uint64_t now_ms_ = 0;
};

void line(const char* what, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  std::printf("  %-44s %7.1f ns (%.1f to %.1f)\n", what, samples[samples.size() / 2], samples.front(), samples.back());
  std::fflush(stdout);
}

// Calls measure() some times, each for so many steps.
template <typename Measure>
void report(const char* what, std::size_t steps, Measure measure) {
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    const double begun = ns_now();
    measure();
    samples.push_back((ns_now() - begun) / static_cast<double>(steps));
  }
  line(what, samples);
}

// Drawn keys leave and come back, in turns.
template <typename Leave, typename Enter>
void report_changes(const char* leaves, const char* enters, std::size_t keys, Leave leave, Enter enter) {
  Prng prng(3);
  std::vector<double> out, in;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<std::size_t> drawn;
    for (std::size_t left = std::min(keys / 4, kSteps); left > 0; --left) drawn.push_back(prng.below(keys));
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    for (std::size_t at = drawn.size(); at > 1; --at) std::swap(drawn[at - 1], drawn[prng.below(at)]);
    double begun = ns_now();
    for (const std::size_t key : drawn) leave(key);
    out.push_back((ns_now() - begun) / static_cast<double>(drawn.size()));
    begun = ns_now();
    for (const std::size_t key : drawn) enter(key);
    in.push_back((ns_now() - begun) / static_cast<double>(drawn.size()));
  }
  line(leaves, out);
  line(enters, in);
}

void measure_map(const std::vector<std::string>& keys) {
  std::map<std::string, std::uint32_t, std::less<>> map;
  double begun = ns_now();
  for (std::size_t key = 0; key < keys.size(); ++key) map.emplace(keys[key], key);
  line("std::map: all keys inserted", {(ns_now() - begun) / static_cast<double>(keys.size())});
  report_changes("std::map: erase", "std::map: insert", keys.size(), [&](std::size_t key) { map.erase(keys[key]); },
                 [&](std::size_t key) { map.emplace(keys[key], key); });
  Prng prng(2);
  std::uint64_t sum = 0;
  report("std::map: seek", kSteps, [&] {
    for (std::size_t i = 0; i < kSteps; ++i) sum += map.lower_bound(keys[prng.below(keys.size())])->second;
  });
  report("std::map: next, in ranges of 1,000", kSteps, [&] {
    for (std::size_t i = 0; i < kSteps / 1000; ++i) {
      auto at = map.lower_bound(keys[prng.below(keys.size())]);
      for (int step = 0; step < 1000 && at != map.end(); ++step, ++at) sum += at->second;
    }
  });
  if (sum == 1) std::printf("\n");
}

void measure_tree(const std::vector<std::string>& keys, std::size_t batch) {
  Tree tree(keys, batch);
  for (std::size_t key = 0; key < keys.size(); ++key) {
    tree.add_node(key);
    if (key % 64 == 63) tree.publish();
  }
  tree.publish();
  const std::uint64_t before = tree.bytes();
  const double begun = ns_now();
  for (std::size_t key = 0; key < keys.size(); ++key) tree.insert(key);
  tree.publish();
  std::printf(" batches of %zu; %.1f bytes a key besides its node\n", batch,
              static_cast<double>(tree.bytes() - before) / static_cast<double>(keys.size()));
  line("tree: all keys inserted", {(ns_now() - begun) / static_cast<double>(keys.size())});
  report_changes("tree: erase", "tree: insert", keys.size(), [&](std::size_t key) { tree.erase(key); },
                 [&](std::size_t key) { tree.insert(key); });
  Prng prng(2);
  std::uint64_t sum = 0;
  report("tree: seek", kSteps, [&] {
    for (std::size_t i = 0; i < kSteps; ++i) sum += tree.seek(prng.below(keys.size())).value();
  });
  report("tree: next, in ranges of 1,000", kSteps, [&] {
    for (std::size_t i = 0; i < kSteps / 1000; ++i) tree.range(prng.below(keys.size()), 1000);
  });
  if (sum == 1) std::printf("\n");
}

absl::Status run(const std::vector<std::size_t>& sizes) {
  for (const std::size_t size : sizes) {
    for (const Keys order : {Keys::kRandom, Keys::kAscending}) {
      const std::vector<std::string> keys = make_keys(order, size);
      std::printf("%zu %s keys of 16 bytes\n", size, order == Keys::kRandom ? "random" : "ascending");
      measure_map(keys);
      for (const std::size_t batch : {1, 64}) measure_tree(keys, batch);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("What the ordered tree of one store costs, beside a std::map of strings.", "tree_cost");
  std::vector<std::size_t> sizes{10'000, 1'000'000};
  app.add_option("KEYS", sizes, "Numbers of keys; default: 10000 1000000")
      ->check(ingot::whole_number(4, ingot::kKeysMax))
      ->type_name("");
  app.footer(
      "Each line is the median of five samples, and the least and the most, in the loop's processor time. Keys of the\n"
      "tree lie in the heap already when they are inserted; a change has its share of the batch's root and of\n"
      "reclaiming. Memory: a kilobyte a key.\n"
      "Example: tree_cost 100000");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::run(sizes); });
}
