// A store that a view is made from: all its changes in one list. It answers from where it stands by now or stood a
// moment ago, as replicas do, and forgets what is compacted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/view/making/source.h"
#include "tests/replication/view/generation/view_model.h"

namespace ingot::test {

// An answer, and the states that it views.
struct PageAnswer {
  std::vector<KeyState> states{};
  std::vector<ViewChange> entries{};
  std::string next;
  ViewRevision revision = 0;
  SourcePage page() const { return {.revision = revision, .entries = entries, .next = next}; }
};
struct ChangesAnswer {
  std::vector<KeyState> states{};
  std::vector<ViewChange> entries{};
  SourcePosition next;
  SourceChanges changes() const { return {.entries = entries, .next = next}; }
};

// Not thread-safe.
class ModelSource {
 public:
  ModelSource(Prng& prng, std::size_t keys) : prng_(prng), keys_(drawn_keys(prng, keys)) {}

  // One revision more, with some changes, now and then several of a key.
  void write(std::size_t value_bytes_max);
  void compact(ViewRevision revision) { compacted_ = std::max(compacted_, revision); }

  ViewRevision revision() const { return revision_; }
  ViewRevision compacted() const { return compacted_; }
  const ViewModel& model() const { return model_; }
  const std::vector<std::string>& keys() const { return keys_; }

  PageAnswer page(const AskPage& ask, ViewRevision at, std::size_t entries_max) const;
  // What is drawn of the changes up to a revision: whole revisions or a part of one, with or without those that are not
  // a key's newest. Nothing: some are lost.
  std::optional<ChangesAnswer> changes(const AskChanges& ask, ViewRevision to);

 private:
  struct Placed {
    SourcePosition position;
    KeyState state;
  };
  bool newest_to_compacted(const Placed& change) const;

  Prng& prng_;
  std::vector<std::string> keys_;
  ViewModel model_;
  std::vector<Placed> changes_;
  ViewRevision revision_ = 1;
  ViewRevision compacted_ = 0;
};

}  // namespace ingot::test
