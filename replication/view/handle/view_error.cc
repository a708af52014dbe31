#include "replication/view/handle/view_error.h"

namespace ingot::inline replication_view_handle {

const char* sentence_of(ViewError error) {
  switch (error) {
    case ViewError::kNone: return "the read was answered";
    case ViewError::kNoView: return "no view was reached in time: the instance is away, or refuses this user";
    case ViewError::kBehind: return "the view does not have the revision yet that the read must see";
    case ViewError::kTooStale: return "what the view has may be older than the read allows, or its age is not known";
    case ViewError::kTooLong: return "the view changed faster than the read could end; read it through the socket";
    case ViewError::kTooOld: return "the view no longer has all changes since that revision; list the keys anew";
    case ViewError::kAnotherInstance:
      return "the instance has begun anew with another state; open a new handle to read that one";
    case ViewError::kForeign:
      return "the instance's view has a layout that this program does not read; use a program of the same version";
    case ViewError::kDamaged: return "the view's memory holds what no publisher writes; another view is asked for";
  }
  return "unknown";
}

}  // namespace ingot::replication_view_handle
