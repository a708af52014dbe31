// Finds a key's record by the key's hash, for point reads and writes. The ordered map beside it (history.h) serves
// ranges: a search in it takes about five times as many cache lines.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "replication/store/limits.h"

namespace ingot::kv {

// A set of records, which it does not own, with distinct keys. `Record` has key().
//
// It consists of 1,024 tables that grow and shrink one by one, so that no change moves more than one table: with ten
// million keys 10,000 entries.
//
// Not thread-safe. Movable.
template <typename Record>
class KeyIndex {
 public:
  // Null if no record has the key.
  Record* find(std::string_view key) const {
    const std::size_t hash = Hash{}(key);
    const Table& table = tables_[part(hash)];
    const auto it = table.find(key, hash);
    return it == table.end() ? nullptr : *it;
  }

  // REQUIRES: no record has its key. The record outlives its entry.
  void insert(Record* record) { tables_[part(Hash{}(record->key()))].insert(record); }

  // REQUIRES: the record is in the set.
  void erase(Record* record) {
    Table& table = tables_[part(Hash{}(record->key()))];
    table.erase(record);
    const std::size_t slots = table.capacity();
    if (slots > kKeyIndexKeptSlots && table.size() < slots / kShrinkShare) table.rehash(0);
  }

  // That the tables have, taken or not.
  std::size_t slots() const {
    std::size_t sum = 0;
    for (const Table& table : tables_) sum += table.capacity();
    return sum;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return absl::Hash<std::string_view>{}(key); }
    std::size_t operator()(const Record* record) const { return (*this)(std::string_view(record->key())); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Record* a, const Record* b) const { return a == b; }
    bool operator()(const Record* record, std::string_view key) const { return record->key() == key; }
    bool operator()(std::string_view key, const Record* record) const { return record->key() == key; }
  };
  using Table = absl::flat_hash_set<Record*, Hash, Equal>;

  static constexpr std::size_t kShrinkShare = 8;  // fuller than that, a table keeps its slots

  // The tables use the low bits.
  static std::size_t part(std::size_t hash) { return hash >> (8 * sizeof(hash) - kKeyIndexPartsLog2); }

  std::vector<Table> tables_{std::size_t{1} << kKeyIndexPartsLog2};
};

}  // namespace ingot::kv
