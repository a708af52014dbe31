// The call slot that a call has taken of its loop.
#pragma once

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <cstddef>

namespace ingot::rpc::inline server {

// What the handlers of one connection's calls work on. Outlives the connection for as long as they work.
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
