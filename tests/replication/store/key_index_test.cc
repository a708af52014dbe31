// The index of keys against a map, through many insertions and removals.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "replication/store/key_index.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

class Record {
 public:
  explicit Record(std::string key) : key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  const std::string key_;
};

TEST_CASE("An index finds the records that are in it, and no other") {
  constexpr int kKeys = 4000;
  for (const std::uint64_t seed : testing::seeds(5)) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    KeyIndex<Record> index;
    std::map<std::string, std::unique_ptr<Record>> expected;
    for (int step = 0; step < 4 * kKeys; ++step) {
      const std::string key = "key/" + std::to_string(random() % kKeys);
      if (const auto found = expected.find(key); found == expected.end()) {
        auto record = std::make_unique<Record>(key);
        index.insert(record.get());
        expected.emplace(key, std::move(record));
      } else if (random() % 2 == 0) {
        index.erase(found->second.get());
        expected.erase(found);
      }
    }
    KeyIndex<Record> moved = std::move(index);
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = "key/" + std::to_string(i);
      const auto found = expected.find(key);
      REQUIRE(moved.find(key) == (found == expected.end() ? nullptr : found->second.get()));
    }
    REQUIRE(moved.find("") == nullptr);
  }
}

TEST_CASE("An index that has lost its records gives back their room, and finds the others") {
  constexpr int kKeys = 200'000;
  constexpr int kKeptEach = 1000;
  KeyIndex<Record> index;
  std::vector<std::unique_ptr<Record>> records;
  for (int i = 0; i < kKeys; ++i) {
    records.push_back(std::make_unique<Record>("key/" + std::to_string(i)));
    index.insert(records.back().get());
  }
  REQUIRE(index.slots() >= kKeys);
  for (int i = 0; i < kKeys; ++i) {
    if (i % kKeptEach != 0) index.erase(records[static_cast<std::size_t>(i)].get());
  }
  REQUIRE(index.slots() <= kKeyIndexKeptSlots << kKeyIndexPartsLog2);
  for (int i = 0; i < kKeys; ++i) {
    REQUIRE((index.find("key/" + std::to_string(i)) != nullptr) == (i % kKeptEach == 0));
  }
}

}  // namespace
}  // namespace ingot::kv
