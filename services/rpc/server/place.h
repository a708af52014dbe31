// The place of a call among those that a loop has taken on.
#pragma once

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <cstddef>

namespace ingot::rpc::inline server {

// What one connection's calls have made the loop's handlers work on; it outlives the connection as long as they do.
struct Works {
  std::size_t large = 0;
  std::size_t unknown = 0;
};

// Taken when a call begins, and given back by Turns::leave() when its handler has ended the work, which may be later
// than the end of the call. Not thread-safe.
struct Place {
  boost::local_shared_ptr<Works> works;  // null: none is taken
  bool large = false;
  bool unknown = false;
};

}  // namespace ingot::rpc::server
