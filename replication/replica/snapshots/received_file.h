// A file that arrives part by part, in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "replication/replica/snapshots/limits.h"

namespace ingot::inline replication_replica_snapshots {

// Memory is allocated as parts come, so a false promise of a huge length costs nothing. A large file grows in place or
// by moving pages (realloc): a copy of some hundred MiB would stop a replica's loop for so long that its peers suspect
// it (docs/design/snapshots.md). Not thread-safe.
class ReceivedFile {
 public:
  ReceivedFile() = default;
  ReceivedFile(ReceivedFile&& other) noexcept { *this = std::move(other); }
  ReceivedFile& operator=(ReceivedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }

  // `whole`: the promised length of the file, only a hint. Returns false, and changes nothing, if there is no memory.
  bool append(std::string_view part, std::size_t whole) {
    if (part.size() > room_ - size_ && !grow(size_ + part.size(), whole)) return false;
    part.copy(bytes_.get() + size_, part.size());
    size_ += part.size();
    return true;
  }

  std::size_t size() const { return size_; }
  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  bool grow(std::size_t least, std::size_t whole) {
    const std::size_t room = std::max(least, std::min(whole, std::max(2 * room_, kSnapshotReserveBytes)));
    char* const bytes = static_cast<char*>(std::realloc(bytes_.get(), room));
    if (bytes == nullptr) return false;
    static_cast<void>(bytes_.release());
    bytes_.reset(bytes);
    room_ = room;
    return true;
  }

  std::unique_ptr<char, Free> bytes_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace ingot::replication_replica_snapshots
