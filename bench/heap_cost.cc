// What the heap under one store costs: noting a word, and overwriting a value of 64 bytes, alone and in batches.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/prng.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/memory.h"
#include "services/cli/cli.h"

namespace ingot {
namespace {

constexpr std::size_t kKeysMax = 4'000'000;
constexpr int kSamples = 5;
constexpr std::size_t kWords = 4000;       // in a batch that only notes
constexpr std::size_t kKeyWords = 4;       // head, hash and length, the key's 16 bytes
constexpr std::size_t kVersionWords = 14;  // 48 bytes of fields and a value of 64
constexpr NodeWords kHead{.first = 0, .count = 1};
constexpr HeapIdentity kIdentity{.replica = 0, .chain_id = 1};

// Of this thread's processor time, since others may use the machine.
double ns_now() {
  timespec now;
  INGOT_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class Store {
 public:
  Store(std::size_t keys, bool huge_pages) {
    memory_ = *private_heap_memory((std::uint64_t{128} << 20) + keys * 512);
    const auto bytes = memory_->bytes();
    INGOT_CHECK(::madvise(bytes.data(), bytes.size(), huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0);
    heap_ = *Heap::create(memory_->bytes(), kIdentity, 0);
    for (std::size_t key = 0; key < keys; ++key) {
      const std::array<std::uint64_t, kKeyWords> content{version(key), key, key, key};
      keys_.push_back(*heap_->add({.kind = 2}, content, kHead));
      if (key % 64 == 63) publish();
    }
    publish();
  }

  // Nanoseconds a word, of words that were not noted before or always of the same ones.
  double note(bool again) {
    const double begun = ns_now();
    for (std::size_t i = 0; i < kWords; ++i) heap_->set(table_word(again ? i % 16 : i), i + 1);
    const double ns = (ns_now() - begun) / kWords;
    publish();
    return ns;
  }

  double publish_only(std::size_t times) {
    const double begun = ns_now();
    for (std::size_t i = 0; i < times; ++i) publish();
    return (ns_now() - begun) / static_cast<double>(times);
  }

  // Nanoseconds a put, with its share of retiring and reclaiming. A batch in 1,000 takes a millisecond.
  double overwrite(std::size_t puts, std::size_t batch) {
    const double begun = ns_now();
    for (std::size_t done = 0; done < puts; done += batch) {
      for (std::size_t i = 0; i < batch; ++i) put();
      publish();
      now_ms_ = ++puts_ * batch / 2000;
      while (heap_->retire_queue().size() > kRetired && heap_->reclaim(now_ms_, [](const Retired&) {}) > 0) {
        publish();
      }
    }
    return (ns_now() - begun) / static_cast<double>(puts);
  }

  // Nanoseconds a new version, in memory that was never touched, or was populated before.
  double grow(bool populated) {
    constexpr std::size_t kNew = 60'000;
    const std::uint64_t first = first_extent_offset(heap_->extents());
    const std::uint64_t extents = kNew * 128 / kExtentBytes + 2;
    if (populated) {
      INGOT_CHECK(memory_->populate(first + heap_->scalars().extents_begun * kExtentBytes, extents * kExtentBytes));
    }
    const double begun = ns_now();
    for (std::size_t i = 0; i < kNew; ++i) {
      version(i);
      if (i % 64 == 63) publish();
    }
    return (ns_now() - begun) / kNew;
  }

  std::uint64_t bytes_used() const { return heap_->scalars().bytes_used; }

 private:
  static constexpr std::size_t kRetired = 2 * kReclaimedMax;

  void publish() { INGOT_CHECK(heap_->publish(now_ms_)); }

  std::uint64_t version(std::uint64_t key) {
    std::array<std::uint64_t, kVersionWords> content{};
    content[0] = ++revision_;
    content[1] = key;
    return heap_->add({.kind = 1}, content)->value();
  }

  void put() {
    const HeapRef key = keys_[prng_.below(keys_.size())];
    const std::uint64_t head = content_offset(key);
    const auto before = HeapRef(static_cast<std::uint32_t>(heap_->content(head)));
    heap_->set(head, version(key.value()));
    heap_->retire(before);
  }

  std::unique_ptr<HeapMemory> memory_;
  std::unique_ptr<Heap> heap_;
  std::vector<HeapRef> keys_;
  Prng prng_{1};
  std::uint64_t revision_ = 0;
  std::uint64_t now_ms_ = 0;
  std::uint64_t puts_ = 0;
};

template <typename Measure>
void report(const char* what, Measure measure, int count = kSamples) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(measure());
  std::sort(samples.begin(), samples.end());
  std::printf("  %-44s %7.1f ns (%.1f to %.1f)\n", what, samples[samples.size() / 2], samples.front(), samples.back());
  std::fflush(stdout);
}

absl::Status run(const std::vector<std::size_t>& sizes, bool huge_pages) {
  for (const std::size_t keys : sizes) {
    Store store(keys, huge_pages);
    std::printf("%zu keys, %llu bytes of nodes\n", keys, static_cast<unsigned long long>(store.bytes_used()));
    const std::size_t puts = std::max<std::size_t>(keys, 200'000);
    report("a word, noted and set", [&] { return store.note(false); });
    report("a word that is noted already, set", [&] { return store.note(true); });
    report("a root without changes", [&] { return store.publish_only(100'000); });
    store.overwrite(puts, 1);  // what is retired reaches its size
    report("an overwriting put, alone", [&] { return store.overwrite(puts, 1); });
    report("an overwriting put, in batches of 64", [&] { return store.overwrite(puts, 64); });
    report("a new version, populated before", [&] { return store.grow(true); }, 3);
    report("a new version, memory's first touch", [&] { return store.grow(false); }, 3);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("What the heap under one store costs: words with undo, nodes, roots.", "heap_cost");
  std::vector<std::size_t> sizes{10'000, 1'000'000};
  app.add_option("KEYS", sizes, "Numbers of keys; default: 10000 1000000")
      ->check(ingot::whole_number(1, ingot::kKeysMax))
      ->type_name("");
  bool huge_pages = false;
  app.add_flag("--huge-pages", huge_pages, "Ask for pages of 2 MiB; otherwise pages have 4 KiB");
  app.footer(
      "Each line is the median of five (new versions: three), and the least and the most, in the loop's processor\n"
      "time. A put allocates and writes a version of 128 bytes with a value of 64, changes its key's head, retires\n"
      "the version before, and has its share of reclaiming; keys are drawn. There are no indexes, log or sessions yet.\n"
      "Memory: half a kilobyte a key.\n"
      "Example: heap_cost 100000");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::run(sizes, huge_pages); });
}
