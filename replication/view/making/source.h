// Where a view's keys come from: a list of all of them, in pages, and the changes since a revision. The replicas are
// one source; whatever answers a range by key and a watch may be another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "replication/view/generation/writer.h"

namespace ingot::inline replication_view_making {

// A position among all changes: the changes of a revision are counted from 0.
struct SourcePosition {
  ViewRevision revision = 0;
  std::uint32_t place = 0;
  auto operator<=>(const SourcePosition&) const = default;
};

// For the keys from `from` on (empty: all), at the newest revision that the source has.
struct AskPage {
  std::string from;
  bool operator==(const AskPage&) const = default;
};

// Some of these keys: all that exist from `from` on below `next`, at the revision. Views end with the call.
struct SourcePage {
  ViewRevision revision = 0;
  std::span<const ViewChange> entries;  // keys ascend; none is deleted; no revision is above that of the page
  std::string_view next;                // empty: these were the last
};

// For changes from a position on, as soon as there are some, or the position alone has moved on. About `bytes_max` of
// them, and one in any case.
struct AskChanges {
  SourcePosition from;
  std::uint64_t bytes_max = 0;
  bool operator==(const AskChanges&) const = default;
};

// All changes from the position that was asked for on, below `next`; of several changes of a key the source may leave
// out all but the newest. With `next.place` 0 that is all up to revision next.revision - 1. Views end with the call.
struct SourceChanges {
  std::span<const ViewChange> entries;  // revisions do not fall
  SourcePosition next;
};

// How much there is, about: what the first generation's size is computed from.
struct SourceSize {
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  // of keys and values
};

// What the answers come to. Each question has one answer, later than the call that asks it.
class SourceAnswers {
 public:
  virtual ~SourceAnswers() = default;
  virtual void on_size(const SourceSize& size) = 0;
  virtual void on_page(const SourcePage& page) = 0;
  virtual void on_changes(const SourceChanges& changes) = 0;
  // Changes below this revision are lost; at it, each key's newest one is left.
  virtual void on_compacted(ViewRevision compacted) = 0;
  // The page, or the changes, will not come: the source cannot answer now.
  virtual void on_page_failed() = 0;
  virtual void on_changes_failed() = 0;
};

// At most one question for a page and one for changes is open at a time. Not thread-safe; of one loop.
class ViewSource {
 public:
  virtual ~ViewSource() = default;
  virtual void ask_size() = 0;
  virtual void ask_page(const AskPage& ask) = 0;
  virtual void ask_changes(const AskChanges& ask) = 0;
};

}  // namespace ingot::replication_view_making
