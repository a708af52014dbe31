// What applying a put and answering a get costs the store: the structures on the heap (replication/view/index/) beside
// the history of today (replication/store/history.h), in one run.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/functional/function_ref.h"
#include "core/check.h"
#include "core/prng.h"
#include "replication/store/history.h"
#include "replication/view/heap/heap.h"
#include "replication/view/heap/memory.h"
#include "replication/view/index/versioned_store.h"
#include "services/cli/cli.h"

namespace ingot {
namespace {

constexpr std::size_t kKeysMax = 4'000'000;
constexpr std::size_t kValueBytesMax = 3840;
constexpr int kSamples = 5;
constexpr std::size_t kCallsMin = 200'000;  // of a sample
constexpr std::size_t kKeptRevisions = 1000;  // compaction follows at that distance, in steps of as many
constexpr HeapIdentity kIdentity{.replica = 0, .chain_id = 1};

struct Flags {
  std::vector<std::size_t> keys{10'000, 1'000'000};
  std::size_t value_bytes = 64;
  std::string output = "table";
};

// Of this thread's processor time, since others may use the machine.
double ns_now() {
  timespec now;
  INGOT_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::string key_text(std::size_t key) {
  char text[32];
  std::snprintf(text, sizeof text, "/keys/%010zu", key);
  return text;
}

class Store {
 public:
  virtual ~Store() = default;
  virtual void put(const std::string& key, const std::string& value) = 0;
  virtual void end_batch() = 0;
  // The bytes of the value, which are copied to `to`.
  virtual std::size_t get(const std::string& key, char* to) = 0;
  virtual void compact() = 0;
  virtual const char* name() const = 0;
};

// As the store's Writer does it.
class TodaysStore final : public Store {
 public:
  void put(const std::string& key, const std::string& value) override {
    const kv::KeyRecord* const record = history_.find(key);
    const bool exists = record != nullptr && !record->newest().tombstone();
    auto version = std::make_unique<kv::Version>();
    version->mod_revision = ++revision_;
    version->create_revision = exists ? record->newest().create_revision : revision_;
    version->version = exists ? record->newest().version + 1 : 1;
    version->value = value;
    history_.append(key, std::move(version));
  }
  void end_batch() override {}
  std::size_t get(const std::string& key, char* to) override {
    const kv::KeyRecord* const record = history_.find(key);
    const kv::Version* const version = record == nullptr ? nullptr : record->at(revision_);
    if (version == nullptr) return 0;
    std::memcpy(to, version->value.data(), version->value.size());
    return version->value.size();
  }
  void compact() override {
    while (history_.compact_some(revision_ - kKeptRevisions, {128})) {
    }
  }
  const char* name() const override { return "today"; }

 private:
  kv::History history_;
  kv::Revision revision_ = 1;
};

class HeapStore final : public Store {
 public:
  HeapStore(std::size_t keys, std::size_t value_bytes)
      : memory_(*private_heap_memory((std::uint64_t{256} << 20) + keys * (512 + 2 * value_bytes))),
        heap_(*Heap::create(memory_->bytes(), kIdentity, 0)),
        store_(*heap_) {}

  void put(const std::string& key, const std::string& value) override {
    if (store_.room(key.size(), value.size()) != StoreRoom::kYes) end_batch();
    INGOT_CHECK(store_.put(key, value, {store_.root().revision + 1, 0}));
  }
  void end_batch() override { INGOT_CHECK(store_.publish(now_ms_)); }
  std::size_t get(const std::string& key, char* to) override {
    VersionNode version;
    if (store_.get(key, store_.root().revision, version) != VersionFound::kFound) return 0;
    const auto value = version.value(heap_->nodes(), scratch_);
    std::memcpy(to, value->data(), value->size());
    return value->size();
  }
  void compact() override {
    INGOT_CHECK(store_.compact(store_.root().revision - static_cast<StoreRevision>(kKeptRevisions)));
    while (store_.free_some(1000)) end_batch();
    end_batch();
    now_ms_ += 1;  // a put takes about a microsecond, so a thousand of them take a millisecond
    while (store_.reclaim(now_ms_) > 0) end_batch();
  }
  const char* name() const override { return "heap"; }

 private:
  std::unique_ptr<HeapMemory> memory_;
  std::unique_ptr<Heap> heap_;
  VersionedStore store_;
  std::uint64_t now_ms_ = 0;
  std::string scratch_;
};

// One store with as many keys, and calls on drawn ones.
class Load {
 public:
  Load(std::unique_ptr<Store> store, const std::vector<std::string>& keys, std::size_t value_bytes)
      : store_(std::move(store)), keys_(keys), value_(value_bytes, 'v'), read_(value_bytes) {}

  const char* name() const { return store_->name(); }

  // Each of these: nanoseconds a call.
  double fill() {
    return timed(keys_.size(), [&] {
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        store_->put(keys_[i], value_);
        if (i % 64 == 63) store_->end_batch();
      }
      store_->end_batch();
    });
  }
  double overwrite(std::size_t batch) {
    return timed(calls(), [&] {
      for (std::size_t i = 1; i <= calls(); ++i) {
        store_->put(draw(), value_);
        if (i % batch == 0) store_->end_batch();
        if (i % kKeptRevisions == 0) store_->compact();
      }
    });
  }
  double read() {
    std::size_t bytes = 0;
    const double ns = timed(calls(), [&] {
      for (std::size_t i = 0; i < calls(); ++i) bytes += store_->get(draw(), read_.data());
    });
    INGOT_CHECK(bytes == calls() * value_.size(), "each key has its value");
    return ns;
  }

 private:
  std::size_t calls() const { return std::max(keys_.size() / 2, kCallsMin); }
  const std::string& draw() { return keys_[prng_.below(keys_.size())]; }
  static double timed(std::size_t calls, absl::FunctionRef<void()> body) {
    const double begun = ns_now();
    body();
    return (ns_now() - begun) / static_cast<double>(calls);
  }

  std::unique_ptr<Store> store_;
  const std::vector<std::string>& keys_;
  const std::string value_;
  std::vector<char> read_;
  Prng prng_{1};
};

struct Measured {
  std::vector<double> ns;
  double median() {
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
  }
};

void report(const Flags& flags, std::size_t keys, const char* what, Measured today, Measured heap) {
  const double ratio = heap.median() / today.median();
  if (flags.output == "table") {
    std::printf("  %-36s today %7.1f ns   heap %7.1f ns (%.1f to %.1f)   %.2f times\n", what, today.median(),
                heap.median(), heap.ns.front(), heap.ns.back(), ratio);
    std::fflush(stdout);
    return;
  }
  const nlohmann::ordered_json object = {{"benchmark", "store_apply"}, {"operation", what},
                                         {"keys", keys},               {"value_bytes", flags.value_bytes},
                                         {"today_ns", today.median()}, {"heap_ns", heap.median()},
                                         {"heap_ns_min", heap.ns.front()}, {"heap_ns_max", heap.ns.back()},
                                         {"ratio", ratio}};
  std::cout << object.dump() << "\n" << std::flush;
}

// The two take turns, so that what else the machine does meets both.
void compare(const Flags& flags, std::size_t count, const char* what, Load& today, Load& heap,
             absl::FunctionRef<double(Load&)> measure, int samples = kSamples) {
  Measured of_today, of_heap;
  for (int i = 0; i < samples; ++i) {
    of_today.ns.push_back(measure(today));
    of_heap.ns.push_back(measure(heap));
  }
  report(flags, count, what, of_today, of_heap);
}

absl::Status run(const Flags& flags) {
  for (const std::size_t count : flags.keys) {
    std::vector<std::string> keys;
    for (std::size_t key = 0; key < count; ++key) keys.push_back(key_text(key));
    Prng prng(7);
    for (std::size_t i = count; i > 1; --i) std::swap(keys[i - 1], keys[prng.below(i)]);
    Load today(std::make_unique<TodaysStore>(), keys, flags.value_bytes);
    Load heap(std::make_unique<HeapStore>(count, flags.value_bytes), keys, flags.value_bytes);
    if (flags.output == "table") std::printf("%zu keys, values of %zu bytes\n", count, flags.value_bytes);
    compare(flags, count, "a put of a new key, batches of 64", today, heap, [](Load& load) { return load.fill(); }, 1);
    compare(flags, count, "a get", today, heap, [](Load& load) { return load.read(); });
    today.overwrite(1), heap.overwrite(1);  // what waits to be reclaimed reaches its size
    compare(flags, count, "an overwriting put, alone", today, heap, [](Load& load) { return load.overwrite(1); });
    compare(flags, count, "an overwriting put, batches of 64", today, heap,
            [](Load& load) { return load.overwrite(64); });
    compare(flags, count, "a get after them", today, heap, [](Load& load) { return load.read(); });
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("What a put and a get cost the store on a heap, beside the history of today.", "store_apply");
  ingot::Flags flags;
  app.add_option("KEYS", flags.keys, "Numbers of keys; default: 10000 1000000")
      ->check(ingot::whole_number(2000, ingot::kKeysMax))
      ->type_name("");
  app.add_option("--value-bytes", flags.value_bytes, "Bytes of each value")
      ->check(ingot::whole_number(1, ingot::kValueBytesMax))
      ->capture_default_str();
  app.add_option("-o,--output", flags.output, "table or json (one object per line)")
      ->check(ingot::one_of({"table", "json"}))
      ->capture_default_str();
  app.footer(
      "Each line is the median of five samples, and of the heap's the least and the most, in the loop's processor time;\n"
      "new keys have one sample. Keys are drawn. A put has its share of compaction, which follows at a thousand\n"
      "revisions, and of giving memory back; on the heap, of publishing too. A get copies the value.\n"
      "Memory: a kilobyte a key.\n"
      "Example: store_apply 100000 -o json");
  return ingot::run_cli(app, argc, argv, [&] { return ingot::run(flags); });
}
