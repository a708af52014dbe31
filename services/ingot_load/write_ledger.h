// A run's record of its writes, and the rule that checks a store against it. Independent of gRPC and of the engine, so
// that tests can use histories made by hand.
//
// The rule, for each key, from what was read after the run:
//  1. If a write was acknowledged, the key is there, at a revision not below the highest acknowledged one: otherwise
//     that write is lost.
//  2. At exactly that revision it has the value of that write.
//  3. Above it, it has the value of a write whose outcome stayed unknown, or one of another run under the same prefix.
//  4. No two writes are acknowledged at the same revision of a key.
// Writes of unknown outcome may or may not appear; failed ones may not (their values fall under 3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "services/ingot_load/stamped_value.h"

namespace ingot::load {

using Revision = std::int64_t;

// A key as read back. The caller says how long the value is valid.
struct Observed {
  Revision mod_revision = 0;
  std::string_view value;
};

enum class Verdict : std::uint8_t {
  kHeld,
  kLost,         // rule 1
  kWrongValue,   // rule 2: another value than was acknowledged at that revision
  kUnexplained,  // rule 3: a value that no write can have left at that revision, or no value of a run at all
  kSameRevision  // rule 4
};

// The end of a sentence that begins with "key K: ".
const char* describe(Verdict verdict);

// The writes of one run, by key index. 40 bytes a key, and about 16 for each write of unknown outcome. Not thread-safe.
class WriteLedger {
 public:
  WriteLedger(std::uint32_t run, std::uint32_t keys) : run_(run), keys_(keys) {}

  void acknowledged(std::uint32_t key, Revision revision, WriteId id);
  void unknown(WriteId id) { unknown_.insert(id); }

  // The highest revision acknowledged so far for a key, 0 if none: a linearizable read that starts now returns no less.
  Revision floor(std::uint32_t key) const { return keys_[key].revision; }

  // Adds the ledger of another worker. REQUIRES: same run and number of keys.
  void merge(const WriteLedger& other);

  // Checks one key. `name` is its full key; `observed` is empty if the store does not have it.
  Verdict verify(std::uint32_t key, std::string_view name, const std::optional<Observed>& observed) const;

  std::uint64_t acknowledged_count() const { return acknowledged_count_; }
  std::uint32_t key_count() const { return static_cast<std::uint32_t>(keys_.size()); }

 private:
  struct Last {
    Revision revision = 0;  // highest acknowledged; 0: none
    WriteId id;
    bool same_revision = false;
  };

  void note(Last& last, Revision revision, WriteId id);

  std::uint32_t run_;
  std::vector<Last> keys_;
  absl::flat_hash_set<WriteId> unknown_;
  std::uint64_t acknowledged_count_ = 0;
};

}  // namespace ingot::load
