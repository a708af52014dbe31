// What a loop keeps for its clients, and how much of it each connection may have.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "services/access/caller.h"
#include "services/rpc/server/bounds.h"

namespace ingot::rpc::inline server {

using HolderHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>,
                                                    boost::intrusive::tag<class Holder>>;

// A connection. Not thread-safe.
class Holder : public HolderHook {
 public:
  virtual std::size_t held_bytes() const = 0;      // its part
  virtual const Caller& holder() const = 0;        // who is at its other end
  virtual std::size_t received_bytes() const = 0;  // of requests that handlers have not got yet
  virtual void drop_received() = 0;                // gives up the largest of those

 protected:
  ~Holder() = default;
};

// A connection may have as much as is still free of ServerBounds::held_bytes, and held_bytes_own in any case. So one
// that comes late is served, and all together stay within the bound but for what is their own. For HTTP/2, as much as is
// free with held_bytes_spare besides: a call that is refused has its stream and its answer's header block there, so the
// connection and its other calls go on. Not thread-safe.
class Holdings {
 public:
  explicit Holdings(const ServerBounds& bounds)
      : max_(bounds.held_bytes),
        spare_(bounds.held_bytes_spare),
        own_(bounds.held_bytes_own),
        received_max_(bounds.received_bytes_all) {}

  void join(Holder& holder) { holders_.push_back(holder); }  // leaves by its end

  std::size_t held_bytes() const;
  // Whether a connection may have so much in all.
  bool allows(std::size_t bytes) const;
  // Whether a connection may have so much for HTTP/2.
  bool allows_http2(std::size_t bytes) const;
  // While all connections together keep more than ServerBounds::received_bytes_all of requests, the connection with the
  // most gives some up. So a client that completes its requests is served beside any number of clients that do not.
  // False: no other connection keeps more than `holder`.
  bool make_room_for_received(const Holder& holder);
  // Why it may not: how much is taken, and who has the most.
  std::string refusal(const Holder& holder, std::uint64_t now_ns);

  std::size_t received_bytes = 0;  // by all connections, not yet given to handlers
  std::size_t head_bytes = 0;      // of all open calls
  // The account of all that waits for clients, from the handler's send to the socket: of all streams, and framed.
  std::size_t output_bytes = 0;
  std::size_t bounded_bytes = 0;  // of those, what handlers bound (Method::bounds_output)
  std::size_t http2_bytes = 0;    // of HTTP/2: streams, header tables, queued frames
  std::size_t stream_bytes = 0;   // of open calls, besides

 private:
  // Who has the most. Found once in a round of the loop: a client that is refused all the time costs no more.
  struct Greatest {
    std::uint64_t round_ns = ~std::uint64_t{0};
    const Holder* holder = nullptr;  // only compared: it may be gone
    std::string name;
    std::size_t held = 0, holders = 0;
  };

  std::size_t share_of(std::size_t max) const;
  const Greatest& greatest(std::uint64_t round_ns);

  const std::size_t max_, spare_, own_, received_max_;
  boost::intrusive::list<Holder, boost::intrusive::base_hook<HolderHook>, boost::intrusive::constant_time_size<false>>
      holders_;
  Greatest greatest_;
};

}  // namespace ingot::rpc::server
