// A reader of a generation, in any process. A reader never writes, and no other process knows of it.
//
// It begins at the newest root, copies what it is asked for, and then checks the mark: if memory that its root reaches
// was used again meanwhile, it drops the copy and begins again. Its answers are the state at its root's revision; all
// reads after one begin() are of one state.
//
// Whatever bytes lie there, and however they change: no read leaves the memory, goes on for ever, or holds more than
// the bounds that it is called with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "replication/view/generation/answer.h"
#include "replication/view/generation/read_source.h"

namespace ingot::inline replication_view_generation {

enum class ReadOutcome : std::uint8_t {
  kOk,
  kOvertaken,  // the root is too old by now: begin() again
  kGone,       // the generation was given up; there is another one
  kTooOld,     // changes(): the log no longer has them
  kDamaged,    // what lies there was not written by a GenerationWriter
};

// Keys from `begin` on, below `end`, or all of them if `end` is empty. At most `limit` of them, and no further one once
// the answer has `bytes_max` bytes.
struct ViewRange {
  std::string_view begin = {};
  std::string_view end = {};
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::size_t bytes_max = std::size_t{64} << 20;
};

// The end of the range of all keys that begin with a prefix; empty: there is no end.
std::string prefix_end(std::string_view prefix);

// Changes after the revision `since`; bounds as in ViewRange. `position`: where an answer at the same root ended.
struct ViewChanges {
  ViewRevision since = 0;
  std::uint64_t position = 0;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  std::size_t bytes_max = std::size_t{64} << 20;
};

// Not thread-safe; one for each thread. The memory outlives it. After another outcome than kOk, an answer is empty.
class ViewReader {
 public:
  // Errors: INVALID_ARGUMENT (no generation, or of another layout), UNAVAILABLE (it has no root yet).
  static absl::StatusOr<ViewReader> open(std::span<const std::byte> memory);

  // Whose state the generation has, and which it is, as its board says.
  std::uint64_t identity() const { return identity_; }
  std::uint64_t generation() const { return generation_; }

  // Goes to the newest root. A later call never finds an older root. Outcomes: kOk, kOvertaken, kGone, kDamaged.
  ReadOutcome begin();
  ViewRevision revision() const { return root_.revision; }
  std::uint64_t root_number() const { return number_; }
  std::uint64_t keys() const { return root_.keys; }

  // At the root of the last begin(), which was kOk. get() adds one entry, or none if there is no such key; so several
  // keys' entries can be had in one answer, which the caller clears.
  ReadOutcome get(std::string_view key, ViewAnswer& answer);
  ReadOutcome range(const ViewRange& range, ViewAnswer& answer);
  ReadOutcome count(std::string_view begin, std::string_view end, std::uint64_t& keys);
  // Each key that changed, once, at its newest state, in the order of these changes.
  ReadOutcome changes(const ViewChanges& changes, ViewAnswer& answer);

  // Begins and reads, at most kReadAttemptsMax times: again with a newer root if the read was overtaken.
  template <typename Read>
  ReadOutcome at_newest(const Read& read) {
    ReadOutcome outcome = ReadOutcome::kOvertaken;
    for (int attempt = 0; attempt < kReadAttemptsMax && outcome == ReadOutcome::kOvertaken; ++attempt) {
      outcome = begin();
      if (outcome == ReadOutcome::kOk) outcome = read();
    }
    return outcome;
  }

 private:
  enum class Found : std::uint8_t { kYes, kNo, kAstray };

  ViewReader(std::span<const std::byte> memory, std::uint64_t log_entries);

  // Whether a read counts; `astray`: it found what no writer has written.
  ReadOutcome verdict(bool astray) const;
  ReadOutcome verdict(bool astray, ViewAnswer& answer) const;
  void copy_root();
  ReadOutcome damaged_or_gone() const;
  // What a key was at the root: adds its version to the answer if `fits` accepts it.
  template <typename Fits>
  Found find(std::uint32_t tag, std::size_t key_bytes, std::optional<ViewRevision> revision, ViewAnswer& answer,
             const Fits& fits);
  std::uint32_t look_into(NodeRef bucket, std::uint32_t tag, NodeRef (&versions)[kBucketEntries], NodeRef& next) const;
  // The version in force at the root, from a newer one on.
  Found at_root(NodeRef& version);
  bool copy(NodeRef version, ViewAnswer& answer);
  bool copy_range(const ViewRange& range, ViewAnswer& answer);
  Found first_change(ViewRevision since, std::uint64_t& position);
  std::uint64_t log_word(std::uint64_t position) const {
    return kHeaderWords + position % log_entries_ * kLogEntryWords;
  }

  ReadSource source_;
  std::uint64_t log_entries_;
  std::uint64_t seed_ = 0;
  std::uint64_t identity_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t number_ = 0;
  bool whole_root_ = false;  // root_ is that of number_
  RootFields root_;
};

}  // namespace ingot::replication_view_generation
