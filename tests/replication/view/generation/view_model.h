// All changes of all keys in one list: a view as anybody would write it, to compare readers of a generation with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/generation/reader.h"
#include "replication/view/generation/writer.h"

namespace ingot::test {

struct KeyState {
  std::string key;
  std::string value = {};
  bool deleted = false;
  ViewRevision revision = 0;
  ViewRevision created = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
  bool operator==(const KeyState&) const = default;
};
KeyState state_of(const ViewEntry& entry);
ViewChange change_of(const KeyState& state);  // its key and value are the state's
std::string to_text(const std::vector<KeyState>& states);

// Not thread-safe.
class ViewModel {
 public:
  void add(const KeyState& change) { changes_[change.key].push_back(change); }

  // The key's newest change up to a revision; nullptr: there is none.
  const KeyState* changed(const std::string& key, ViewRevision at) const;
  // The keys from `begin` on below `end` (empty: all) that exist there.
  std::vector<KeyState> range(const std::string& begin, const std::string& end, ViewRevision at) const;
  // The keys that changed after `since`, by key.
  std::vector<KeyState> changes(ViewRevision since, ViewRevision at) const;

 private:
  std::map<std::string, std::vector<KeyState>> changes_;
};

// Keys with shared beginnings, of all lengths from 1 to a few words, with all kinds of bytes.
std::vector<std::string> drawn_keys(Prng& prng, std::size_t count);

// Asks a reader that has begun for what is drawn, at its root. What is wrong with its answers; empty: nothing. Reads
// that were overtaken are counted, and end it.
std::string check_reads(ViewReader& reader, const ViewModel& model, const std::vector<std::string>& keys, Prng& prng,
                        int questions, std::uint64_t& overtaken);

}  // namespace ingot::test
