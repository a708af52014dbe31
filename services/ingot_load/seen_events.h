// What one watch was told of its key, and whether it can be so. Pure.
#pragma once

#include <cstdint>

#include "services/ingot_load/write_ledger.h"

namespace ingot::load {

// A load puts and never deletes, so a key's puts have consecutive versions: a gap is a lost event, a version that comes
// again a doubled one. Not thread-safe.
class SeenEvents {
 public:
  SeenEvents() = default;
  // From a key with this version (0: not there) at this revision on.
  SeenEvents(std::int64_t version, Revision revision) : version_(version), revision_(revision) {}

  // Takes a put's event. Returns what is wrong with it, as the end of a sentence; null: nothing. After an error it goes
  // on from this event.
  const char* take(std::int64_t version, Revision revision) {
    const char* wrong = nullptr;
    if (revision <= revision_) {
      wrong = "came again, or behind a later one";
    } else if (version > version_ + 1) {
      wrong = "came without the one before it";
    } else if (version != version_ + 1) {
      wrong = "has the version of an earlier one";
    }
    version_ = version;
    revision_ = revision;
    return wrong;
  }

  std::int64_t version() const { return version_; }
  Revision next_revision() const { return revision_ + 1; }  // of a watch that goes on

 private:
  std::int64_t version_ = 0;
  Revision revision_ = 0;
};

}  // namespace ingot::load
