// Requests and answers between endpoints, as bytes, over any machine's transport: the layer below active messages.
//
// A request goes to an endpoint, which may be this one. A request that wants an answer gets exactly one, unless this
// object is destroyed before. Messages that the transport has no room for wait here, in order, up to
// kWaitingMessagesMax a peer.
//
//   byte 0       class: kRequest or kAnswer
//        1       the request's kind; of an answer: its status code, 0: OK
//        2..5    the caller's number for the request; 0: no answer wanted
//        6..     the request's or result's bytes; with another code than 0: the error's text
//
// Used by the thread of its endpoint's loop only. No call blocks, and all work is done in poll().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/collectives/groups/group_limits.h"
#include "transport/transport.h"

namespace ingot::inline transport_collectives_groups {

class Requests {
 public:
  enum class Class : std::uint8_t { kRequest = 0x50, kAnswer = 0x51 };  // unlike schedules' and replicas'

  using Done = std::function<void(absl::StatusOr<std::string_view> result)>;
  struct Caller {
    EndpointId endpoint{};
    std::uint32_t number = 0;  // 0: wants no answer
  };
  // Called for each request; answers the caller at once or later.
  using Handler = std::function<void(std::uint8_t kind, Caller caller, std::string_view body)>;

  // `transport` outlives this; `endpoints` is the number of endpoints of its fabric.
  Requests(Transport& transport, int endpoints, Handler handler);

  EndpointId self() const { return transport_.self(); }

  // `done` may be empty: one way. It is called in a later poll(), or in endpoint_gone(). Errors, after which nothing
  // was sent: INVALID_ARGUMENT (no such endpoint, too long), UNAVAILABLE (the endpoint is gone), RESOURCE_EXHAUSTED
  // (too many requests without an answer, or too many messages waiting for that peer).
  absl::Status request(EndpointId to, std::uint8_t kind, std::string_view body, Done done);

  void answer(Caller caller, const absl::StatusOr<std::string>& result);

  // The endpoint is dead: outstanding requests to it fail with UNAVAILABLE, executed or not. Not to be called from a
  // handler.
  void endpoint_gone(EndpointId endpoint);

  // One bounded round; returns how much was done.
  int poll();
  bool readable() { return !local_.empty() || transport_.readable(); }

  // Messages wait for room at a peer: poll again soon. peers(): those peers, as far as known.
  bool unsent() const { return fragments_wait_ || waiting_messages_ > 0; }
  std::vector<EndpointId> full_peers() const;

  std::size_t outstanding() const { return outstanding_.size(); }
  std::uint64_t strays() const { return strays_; }  // unexpected messages, dropped

 private:
  struct Outstanding {
    EndpointId to;
    Done done;
  };

  absl::Status refusal(EndpointId to, std::size_t bytes, bool wants_answer) const;
  void transmit(EndpointId to, std::string message);
  void receive(EndpointId from, std::string_view message);
  void receive_answer(EndpointId from, std::uint8_t code, std::uint32_t number, std::string_view body);
  int take_local();
  int send_waiting();

  Transport& transport_;
  const Handler handler_;
  std::vector<std::deque<std::string>> waiting_;  // by endpoint
  std::vector<bool> gone_;                        // likewise
  std::size_t waiting_messages_ = 0;
  std::deque<std::string> local_;
  std::unordered_map<std::uint32_t, Outstanding> outstanding_;
  std::uint32_t last_number_ = 0;
  bool fragments_wait_ = false;
  std::uint64_t strays_ = 0;
};

}  // namespace ingot::transport_collectives_groups
