// One suite for all that keeps versions of keys: the dumb model, the history of today, and the structures on a heap, in
// private memory and in a segment.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/prng.h"
#include "replication/store/history.h"
#include "replication/view/heap/memory.h"
#include "tests/replication/view/heap/killed_run.h"
#include "tests/replication/view/index/store_script.h"
#include "tests/seeds.h"
#include "transport/host/segment.h"

namespace ingot::test {
namespace {

constexpr std::size_t kBytes = first_extent_offset(600) + 600 * kExtentBytes;

class ContractStore {
 public:
  virtual ~ContractStore() = default;
  virtual void put(const std::string& key, const std::string& value, ChangeAt at, std::int64_t lease) = 0;
  virtual void erase(const std::string& key, ChangeAt at) = 0;
  virtual void take_back(StoreRevision revision) = 0;
  virtual void compact(StoreRevision revision) = 0;
  virtual StoreAnswers answers() = 0;  // end with the next change
  virtual VersionSum held() = 0;
  virtual std::uint64_t live_keys() = 0;
  // The state is published, outlives its process, and memory is given back.
  virtual void rest() {}
};

class ModelStore final : public ContractStore {
 public:
  void put(const std::string& key, const std::string& value, ChangeAt at, std::int64_t lease) override {
    model_.put(key, value, at.revision, at.sub, lease);
  }
  void erase(const std::string& key, ChangeAt at) override { model_.erase(key, at.revision, at.sub); }
  void take_back(StoreRevision revision) override { model_.take_back(revision); }
  void compact(StoreRevision revision) override { model_.compact(revision); }
  StoreAnswers answers() override { return answers_of(model_, model_.root()); }
  VersionSum held() override { return model_.held(model_.root()); }
  std::uint64_t live_keys() override { return model_.live_keys(model_.root()); }

 private:
  StoreModel model_;
};

// It has no events, and no reads at revisions that compaction has removed.
class HistoryStore final : public ContractStore {
 public:
  void put(const std::string& key, const std::string& value, ChangeAt at, std::int64_t lease) override {
    auto version = new_version(at);
    const kv::KeyRecord* const record = history_.find(key);
    const bool exists = record != nullptr && !record->newest().tombstone();
    version->create_revision = exists ? record->newest().create_revision : at.revision;
    version->version = exists ? record->newest().version + 1 : 1;
    version->lease = lease;
    version->value = value;
    append(key, std::move(version));
  }
  void erase(const std::string& key, ChangeAt at) override { append(key, new_version(at)); }
  void take_back(StoreRevision) override {
    history_.undo(changes_.back());
    changes_.pop_back();
  }
  void compact(StoreRevision revision) override {
    while (history_.compact_some(revision, {100})) {
    }
  }
  StoreAnswers answers() override {
    return {
        [this](const std::string& key, StoreRevision revision) {
          std::optional<SeenVersion> found;
          history_.visit(kv::KeyRange(key, ""), revision, [&](const kv::KeyRecord&, const kv::Version& version) {
            found = seen_as(key, version);
            return false;
          });
          return to_text(found);
        },
        [this](const std::string& begin, const std::optional<std::string>& end, StoreRevision revision) {
          std::vector<SeenVersion> found;
          const kv::KeyRange range(begin, end ? std::string_view(*end) : std::string_view("\0", 1));
          if (end == begin) return to_text(found);
          history_.visit(range, revision, [&](const kv::KeyRecord& record, const kv::Version& version) {
            found.push_back(seen_as(record.key(), version));
            return true;
          });
          return to_text(found);
        },
        {},
    };
  }
  VersionSum held() override {
    return {history_.digest(), static_cast<std::uint64_t>(history_.versions()),
            static_cast<std::uint64_t>(history_.bytes())};
  }
  std::uint64_t live_keys() override { return static_cast<std::uint64_t>(history_.live_keys()); }

 private:
  static std::unique_ptr<kv::Version> new_version(ChangeAt at) {
    auto version = std::make_unique<kv::Version>();
    version->mod_revision = at.revision;
    version->sub = at.sub;
    return version;
  }
  static SeenVersion seen_as(const std::string& key, const kv::Version& version) {
    return {key,          version.value, version.mod_revision, version.sub, version.create_revision, version.version,
            version.lease};
  }
  void append(const std::string& key, std::unique_ptr<kv::Version> version) {
    changes_.push_back(history_.append(key, std::move(version)));
  }

  kv::History history_;
  std::vector<kv::History::Change> changes_;
};

// Readers of another process answer as the writer does, at each published state.
class HeapContractStore final : public ContractStore {
 public:
  explicit HeapContractStore(std::unique_ptr<HeapMemory> memory) : memory_(std::move(memory)) {
    heap_ = *Heap::create(memory_->bytes(), kIdentity, 0);
    store_.emplace(*heap_);
  }
  void put(const std::string& key, const std::string& value, ChangeAt at, std::int64_t lease) override {
    make_room(key.size(), value.size());
    REQUIRE(store_->put(key, value, at, lease));
  }
  void erase(const std::string& key, ChangeAt at) override {
    make_room(key.size(), 0);
    REQUIRE(store_->erase(key, at));
  }
  void take_back(StoreRevision revision) override { REQUIRE(store_->take_back(revision)); }
  void compact(StoreRevision revision) override { REQUIRE(store_->compact(revision)); }
  StoreAnswers answers() override { return answers_of(*store_); }
  VersionSum held() override { return store_->root().held(); }
  std::uint64_t live_keys() override { return store_->root().live_keys; }

  void rest() override {
    while (store_->free_some(50)) REQUIRE(store_->publish(now_ms_));
    REQUIRE(store_->publish(now_ms_ += 2 * kRetiredMs));
    store_.reset();
    heap_ = *Heap::adopt(memory_->bytes(), kIdentity, now_ms_);
    store_.emplace(*heap_);
    now_ms_ += 2 * kRetiredMs;
    while (store_->reclaim(now_ms_) > 0) REQUIRE(store_->publish(now_ms_ += 2 * kRetiredMs));
    REQUIRE(check_store_books(*heap_, memory_->bytes()) == "");
  }

  HeapMemory& memory() { return *memory_; }

 private:
  void make_room(std::size_t key_bytes, std::size_t value_bytes) {
    if (store_->room(key_bytes, value_bytes) == StoreRoom::kPublishFirst) REQUIRE(store_->publish(now_ms_));
    REQUIRE(store_->room(key_bytes, value_bytes) == StoreRoom::kYes);
  }

  std::unique_ptr<HeapMemory> memory_;
  std::unique_ptr<Heap> heap_;
  std::optional<VersionedStore> store_;
  std::uint64_t now_ms_ = 0;
};

std::unique_ptr<ContractStore> make_store(const std::string& kind) {
  if (kind == "model") return std::make_unique<ModelStore>();
  if (kind == "history") return std::make_unique<HistoryStore>();
  if (kind == "memory") return std::make_unique<HeapContractStore>(*private_heap_memory(kBytes));
  return std::make_unique<HeapContractStore>(
      *shared_heap_memory(create_segment("ingot-test-store", kBytes).value().get()));
}

std::string draw_kind() { return GENERATE("model", "history", "memory", "segment"); }

TEST_CASE("a key has the value of each revision until that is compacted") {
  const auto store = make_store(draw_kind());
  const std::string key = GENERATE(as<std::string>(), "k", std::string(3000, 'k'));
  const std::string large(20'000, 'v');
  store->put(key, "one", {2, 0}, 0);
  store->put("other", "x", {3, 0}, 0);
  store->put(key, large, {4, 0}, 77);
  store->erase(key, {5, 0});
  store->put(key, "again", {6, 1}, 0);
  const auto expect = [&](StoreRevision revision, std::optional<SeenVersion> wanted) {
    CHECK(store->answers().get(key, revision) == to_text(wanted));
  };
  for (int round = 0; round < 2; ++round) {
    expect(1, std::nullopt);
    expect(3, SeenVersion{key, "one", 2, 0, 2, 1, 0});
    expect(4, SeenVersion{key, large, 4, 0, 2, 2, 77});
    expect(5, std::nullopt);
    expect(6, SeenVersion{key, "again", 6, 1, 6, 1, 0});
    CHECK(store->held().versions == 5);
    CHECK(store->held().bytes == 4 * key.size() + 3 + large.size() + 5 + 6);
    CHECK(store->live_keys() == 2);
    store->rest();
  }
  store->compact(4);
  store->rest();
  expect(4, SeenVersion{key, large, 4, 0, 2, 2, 77});
  CHECK(store->held().versions == 4);
  store->compact(5);
  CHECK(store->held().versions == 2);
  store->rest();
  expect(6, SeenVersion{key, "again", 6, 1, 6, 1, 0});
  store->erase(key, {7, 0});
  store->compact(7);
  store->rest();
  expect(7, std::nullopt);
  CHECK(store->live_keys() == 1);
  CHECK(store->held().versions == 1);
}

TEST_CASE("changes that are taken back leave no trace") {
  const auto store = make_store(draw_kind());
  store->put("a", "1", {2, 0}, 0);
  store->put("b", "1", {3, 0}, 0);
  const VersionSum before = store->held();
  store->put("c", std::string(10'000, 'c'), {4, 0}, 0);
  store->put("a", "2", {4, 1}, 0);
  store->erase("b", {4, 2});
  for (const StoreRevision revision : {4, 4, 3}) store->take_back(revision);
  CHECK(store->held() == before);
  CHECK(store->live_keys() == 2);
  store->rest();
  CHECK(store->answers().range("", std::nullopt, 3) ==
        to_text(std::vector<SeenVersion>{{"a", "1", 2, 0, 2, 1, 0}, {"b", "1", 3, 0, 3, 1, 0}}));
  store->put("c", "3", {4, 0}, 0);
  store->rest();
  CHECK(store->answers().get("c", 4) == to_text(SeenVersion{"c", "3", 4, 0, 4, 1, 0}));
}

TEST_CASE("any stores show the same after the same changes") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  const auto keys = draw_store_keys(prng, 40);
  StoreModel model;
  std::map<std::string, std::unique_ptr<ContractStore>> stores;
  for (const char* const kind : {"history", "memory", "segment"}) stores[kind] = make_store(kind);
  const auto each = [&](auto change) {
    for (auto& [kind, store] : stores) change(*store);
  };
  for (int i = 0; i < 2500; ++i) {
    const ModelRoot root = model.root();
    const std::uint64_t dice = prng.below(100);
    const std::string& key = keys[prng.below(keys.size())];
    const ChangeAt at{root.revision + 1, static_cast<std::uint32_t>(prng.below(3))};
    if (dice < 70 || !model.exists(key)) {
      const std::string value(prng.chance(0.98) ? prng.below(100) : prng.below(30'000), static_cast<char>(prng()));
      each([&](ContractStore& store) { store.put(key, value, at, i % 7); });
      model.put(key, value, at.revision, at.sub, i % 7);
    } else if (dice < 95) {
      each([&](ContractStore& store) { store.erase(key, at); });
      model.erase(key, at.revision, at.sub);
    } else if (root.compacted < root.revision && prng.chance(0.5)) {
      const auto above = static_cast<std::uint64_t>(root.revision - root.compacted);
      const StoreRevision to = root.compacted + 1 + static_cast<StoreRevision>(prng.below(above));
      each([&](ContractStore& store) { store.compact(to); });
      model.compact(to);
    } else {
      each([](ContractStore& store) { store.rest(); });
    }
    if (!prng.chance(0.1)) continue;
    const ModelRoot now = model.root();
    const std::uint64_t questions = prng();
    auto wanted = answers_of(model, now);
    wanted.events = [](StoreRevision, std::size_t) { return ""; };
    const std::string expected = ask(wanted, keys, now.revision, now.compacted, questions, 5);
    const std::string with_events = ask(answers_of(model, now), keys, now.revision, now.compacted, questions, 5);
    for (auto& [kind, store] : stores) {
      INFO(kind << " at revision " << now.revision);
      StoreAnswers answers = store->answers();
      const bool events = answers.events != nullptr;
      if (!events) answers.events = wanted.events;
      REQUIRE(ask(answers, keys, now.revision, now.compacted, questions, 5) == (events ? with_events : expected));
      REQUIRE(store->held() == model.held(now));
      REQUIRE(store->live_keys() == model.live_keys(now));
    }
  }
}

TEST_CASE("readers of another process answer as the writer") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  const auto keys = draw_store_keys(prng, 300);
  auto memory = *private_heap_memory(kBytes);
  auto heap = *Heap::create(memory->bytes(), kIdentity, 0);
  VersionedStore store(*heap);
  StoreModel model;
  StoreScript script(keys, model);
  auto reader = *StoreReader::open(memory->bytes(), kIdentity);
  CHECK_FALSE(reader.begin());  // no state was published yet
  REQUIRE(store.publish(0));
  const PinId pin = heap->pin();
  std::optional<StoreView> pinned;
  ModelRoot pinned_root;
  for (std::uint64_t now_ms = 0; now_ms < 20'000; now_ms += 10) {
    if (prng.chance(0.3) && store.reclaim(now_ms) > 0) {
      // nothing else in this batch
    } else {
      script.batch(store, prng);
    }
    REQUIRE(store.publish(now_ms));
    REQUIRE(reader.begin());
    const ModelRoot root = model.root();
    const std::uint64_t questions = prng();
    const auto wanted = answers_of(model, root);
    const std::string expected = ask(wanted, keys, root.revision, root.compacted, questions, 3);
    REQUIRE(ask(answers_of(reader), keys, root.revision, root.compacted, questions, 3) == expected);
    REQUIRE(ask(answers_of(store), keys, root.revision, root.compacted, questions, 3) == expected);
    if (now_ms == 8'000) {
      heap->unpin(pin);
      static_cast<void>(heap->pin());
      pinned = store.view();
      pinned_root = root;
    }
    if (pinned && prng.chance(0.1)) {
      REQUIRE(ask(answers_of(*pinned), keys, pinned_root.revision, pinned_root.compacted, questions, 5) ==
              ask(answers_of(model, pinned_root), keys, pinned_root.revision, pinned_root.compacted, questions, 5));
    }
    if (now_ms % 500 == 0) {
      REQUIRE(check_store_books(*heap, memory->bytes()) == "");
      REQUIRE(store.root().held() == model.held(root));
    }
  }
  CHECK(store.root().hash.splits > 30);
  CHECK(store.root().log.freed > kLogChunkEntries);
}

}  // namespace
}  // namespace ingot::test
