// How many bytes a message makes its receiver store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "replication/agreement/agreement.h"
#include "replication/agreement/messages.h"
#include "replication/stable/layout.h"

namespace ingot::inline replication_agreement {

// Bytes of the records for the command of a message of type `storing`, and for a window of outcomes without a command
// that may come with it; 0 for a message of another type. Records do not wrap, so each may waste as many bytes as it
// takes.
inline std::size_t stored_bytes_max(std::string_view message, MessageType storing, const AgreementBounds& bounds) {
  constexpr std::size_t kTypeOffset = 2;
  if (message.size() <= kTypeOffset || static_cast<MessageType>(message[kTypeOffset]) != storing) return 0;
  const std::size_t window = 2 * static_cast<std::size_t>(bounds.window_slots) * stable_record_bytes(0);
  return 2 * stable_record_bytes(message.size()) + window;
}

// Whether a takeover may store its records now (Agreement::room). Not thread-safe.
class StableRoom {
 public:
  // So many bytes of the ring are free now.
  void set(std::size_t bytes) {
    bytes_ = bytes;
    largest_ = 0;
  }

  // Takes the room for one record. What is taken wraps at most once, and then leaves less unused at the ring's end than
  // its largest record takes. False, without effect, if there is too little.
  bool take(std::size_t record_bytes) {
    const std::size_t largest = std::max(largest_, record_bytes);
    lacking_ = bytes_ < record_bytes + largest;
    if (lacking_) return false;
    bytes_ -= record_bytes;
    largest_ = largest;
    return true;
  }

  // Likewise for all of these writes, or for none.
  bool take(std::span<const StableWrite> writes) {
    StableRoom rest = *this;
    for (const StableWrite& write : writes) {
      if (rest.take(stable_record_bytes(write))) continue;
      lacking_ = true;
      return false;
    }
    *this = rest;
    return true;
  }

  // The newest take() found too little.
  bool lacking() const { return lacking_; }

 private:
  std::size_t bytes_ = SIZE_MAX;
  std::size_t largest_ = 0;  // of the records taken since set()
  bool lacking_ = false;
};

}  // namespace ingot::replication_agreement
