// All versions of all keys in one list: the store as anybody would write it, to compare others with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/index/revision_log.h"
#include "replication/view/index/version_node.h"

namespace ingot::test {

// A change as it is read again.
struct SeenVersion {
  std::string key;
  std::string value;
  StoreRevision revision = 0;
  std::uint32_t sub = 0;
  StoreRevision created = 0;  // 0: a deletion
  std::int64_t version = 0;
  std::int64_t lease = 0;
  bool operator==(const SeenVersion&) const = default;
};
SeenVersion seen(std::string_view key, std::string_view value, const VersionFields& fields);
std::string to_text(const std::optional<SeenVersion>& seen);
std::string to_text(const std::vector<SeenVersion>& seen);

// One state of the model: how many changes there were, and what was removed.
struct ModelRoot {
  std::size_t changes = 0;
  StoreRevision revision = 1;
  StoreRevision compacted = 0;
};

// Reads at an older state are right after later changes. Not thread-safe.
class StoreModel {
 public:
  const ModelRoot& root() const { return root_; }
  // Forgets what came after a state.
  void go_back(const ModelRoot& root);

  void put(const std::string& key, const std::string& value, StoreRevision revision, std::uint32_t sub,
           std::int64_t lease);
  void erase(const std::string& key, StoreRevision revision, std::uint32_t sub);
  void take_back(StoreRevision revision);  // the newest change
  void compact(StoreRevision revision) { root_.compacted = revision; }

  bool exists(const std::string& key) const { return get(root_, key, root_.revision).has_value(); }
  // The revision of a key's newest change; 0: none.
  StoreRevision changed(const std::string& key) const;

  std::optional<SeenVersion> get(const ModelRoot& root, const std::string& key, StoreRevision revision) const;
  std::vector<SeenVersion> range(const ModelRoot& root, const std::string& begin,
                                 const std::optional<std::string>& end, StoreRevision revision) const;
  std::vector<SeenVersion> events(const ModelRoot& root, StoreRevision revision, std::size_t most) const;

  // The versions that compaction has not removed, and the keys that exist.
  VersionSum held(const ModelRoot& root) const;
  std::uint64_t live_keys(const ModelRoot& root) const;

 private:
  void add(SeenVersion version);

  ModelRoot root_;
  std::vector<SeenVersion> changes_;
  std::map<std::string, std::vector<std::size_t>> by_key_;  // places among the changes
};

// How a store answers; nothing: the answer does not count.
struct StoreAnswers {
  std::function<std::optional<std::string>(const std::string& key, StoreRevision)> get;
  std::function<std::optional<std::string>(const std::string& begin, const std::optional<std::string>& end,
                                           StoreRevision)> range;
  std::function<std::optional<std::string>(StoreRevision, std::size_t most)> events;
};
StoreAnswers answers_of(const StoreModel& model, const ModelRoot& root);

// The answers to questions that a seed draws; "" if one does not count.
std::string ask(const StoreAnswers& store, const std::vector<std::string>& keys, StoreRevision revision,
                StoreRevision compacted, std::uint64_t seed, int questions);

}  // namespace ingot::test
