// What the connections of a loop hold of what all of them need, and how much of it each may have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "services/watch/watch.h"

namespace ingot::watch {

// A connection may have as much as is still free, and a few of its own in any case (limits.h). Not thread-safe.
class Shares {
 public:
  // The holder for the connection of a stream that opens.
  Holder& join(const WatchOutput& output);
  // Forgets the holder if it has no streams.
  void leave(Holder& holder);

  // No value: the connection may have so many more. Otherwise why not: how many there are, and who has the most.
  std::optional<std::string> refusal(const Holder& holder, Resource what, std::size_t more, std::uint64_t now_ns);
  void add(Holder& holder, Resource what, std::size_t more);
  void remove(Holder& holder, Resource what, std::size_t less);

  std::size_t all(Resource what) const { return all_[static_cast<std::size_t>(what)]; }

 private:
  // Who has the most. Found once in a round of the loop: a client that is refused all the time costs no more.
  struct Greatest {
    std::uint64_t round_ns = ~std::uint64_t{0};
    const void* connection = nullptr;
    std::string name;
    std::size_t held = 0;
  };

  const Greatest& greatest(Resource what, std::uint64_t round_ns);

  absl::flat_hash_map<const void*, std::unique_ptr<Holder>> holders_;  // by connection
  std::array<std::size_t, kResources> all_{};
  std::array<Greatest, kResources> greatest_;
};

}  // namespace ingot::watch
