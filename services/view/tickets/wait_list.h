// Who waits for a change of which keys, and whose change has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/view/tickets/limits.h"

namespace ingot::inline services_view_tickets {

// Each wait has a prefix and a revision, and ends when a key with that prefix has changed after that revision, and the
// view shows it. A wait may end without such a change, if the list no longer knows: its client looks and waits again.
// Pure, and not thread-safe. Changes are kept only while somebody waits.
class WaitList {
 public:
  using Id = std::uint64_t;

  // In place of what `id` waited for before. Nothing is looked at here.
  void wait(Id id, std::string_view prefix, std::int64_t revision);
  void forget(Id id) { waits_.erase(id); }

  // Revisions do not fall. A change counts once the revision is published.
  void changed(std::string_view key, std::int64_t revision);
  // Changes up to this revision were not told here.
  void missed(std::int64_t revision);
  void published(std::int64_t revision);

  // Looks at up to `most` waits, by turns, and at kWaitChangesPerLook changes for each; appends those that have ended
  // to `ended`, and forgets them.
  void look(std::size_t most, std::vector<Id>& ended);
  // Whether some have begun, or were not looked at to the end, since the last published().
  bool to_look() const { return unseen_ > 0 && !waits_.empty(); }

  std::size_t size() const { return waits_.size(); }

 private:
  struct Wait {
    std::string prefix;
    std::int64_t revision = 0;
    std::uint64_t next = 0;  // the first change that was not looked at, counted from the first ever
    bool unsure = false;     // changes after `revision` are no longer known
  };
  struct Change {
    std::int64_t revision;
    std::string key;
  };

  enum class Look { kEnded, kWaits, kUnfinished };
  Look look_at(Wait& wait) const;
  void drop_front();

  std::map<Id, Wait> waits_;
  Id last_looked_ = 0;
  std::size_t unseen_ = 0;  // so many in turn are to be looked at
  std::deque<Change> changes_;
  std::uint64_t first_ = 0;  // the number of the first of them
  std::size_t bytes_ = 0;    // of their keys
  std::int64_t floor_ = 0;   // later changes are all in the list
  std::int64_t published_ = 0;
};

}  // namespace ingot::services_view_tickets
