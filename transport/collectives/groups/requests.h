// Requests and answers between endpoints, as bytes, over any machine's transport: what active messages are made of.
//
// A request goes to an endpoint, which may be this one; whoever asked for an answer gets exactly one, unless this
// object ends before. What the transport has no room for waits here, in order, up to kWaitingMessagesMax a peer.
//
//   byte 0       class: kRequest or kAnswer
//        1       what kind of request; of an answer: its status code, 0: done
//        2..5    number that the caller gave the request; 0: no answer wanted
//        6..     the request's or result's bytes; with another code than 0 the error's text
//
// Used by the thread of its endpoint's loop only. Nothing waits, nothing runs but in poll().
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

namespace ingot {

class Requests {
 public:
  enum class Class : std::uint8_t { kRequest = 0x50, kAnswer = 0x51 };  // apart from schedules and replicas

  using Done = std::function<void(absl::StatusOr<std::string_view> result)>;
  struct Caller {
    EndpointId endpoint{};
    std::uint32_t number = 0;  // 0: wants no answer
  };
  // Gives an answer to the caller now or later.
  using Handler = std::function<void(std::uint8_t kind, Caller caller, std::string_view body)>;

  // `transport` outlives this; its fabric has so many endpoints.
  Requests(Transport& transport, int endpoints, Handler handler);

  EndpointId self() const { return transport_.self(); }

  // `done` may be empty: one way. It is called in a later poll(), or in endpoint_gone(). Errors, after which nothing
  // was sent: INVALID_ARGUMENT (no such endpoint, too long), UNAVAILABLE (it is gone), RESOURCE_EXHAUSTED (too many
  // requests without an answer, too many messages that wait for that peer).
  absl::Status request(EndpointId to, std::uint8_t kind, std::string_view body, Done done);

  void answer(Caller caller, const absl::StatusOr<std::string>& result);

  // The endpoint is dead: what it was asked fails with UNAVAILABLE, whether or not it was done. Not from a handler.
  void endpoint_gone(EndpointId endpoint);

  // One bounded round; returns how much was done.
  int poll();
  bool readable() { return !local_.empty() || transport_.readable(); }

  // Something waits for room at a peer: come back soon. peers(): whose room, as far as it is known.
  bool unsent() const { return fragments_wait_ || waiting_messages_ > 0; }
  std::vector<EndpointId> full_peers() const;

  std::size_t outstanding() const { return outstanding_.size(); }
  std::uint64_t strays() const { return strays_; }  // messages that fit nothing, dropped

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

}  // namespace ingot
