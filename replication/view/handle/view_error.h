// What a read of a view can end with.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::inline replication_view_handle {

enum class ViewError : std::uint8_t {
  kNone,
  kNoView,           // none was reached within the time that the caller allows
  kBehind,           // the view does not have the revision that was demanded, within the time that the caller allows
  kTooStale,         // what the view has may be older than the caller allows
  kTooLong,          // the read was overtaken again and again: read it through the socket, page by page
  kTooOld,           // changes(): the view no longer has all of them
  kAnotherInstance,  // the state was lost and begun anew: this handle stays with what it has read, and reads no more
  kDamaged,          // the memory holds what no writer writes; another ticket was asked for
  kForeign,          // the last ticket led to no view that this program can read: ViewHandle::refusal() says why
};

constexpr std::array<const char*, 9> enum_names(ViewError) {
  return {"none",    "no_view",          "behind",  "too_stale", "too_long",
          "too_old", "another_instance", "damaged", "foreign"};
}

// A sentence for people.
const char* sentence_of(ViewError error);

}  // namespace ingot::replication_view_handle
