// The interface through which services reach the replicas: requests in from any thread, answers by callback.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/limits.h"
#include "core/types.h"
#include "replication/requests/request.h"

namespace ingot::inline replication_client {

struct ReplicaReply {
  enum class Outcome : std::uint8_t {
    kOk,          // payload is the state machine's result
    kOverloaded,  // not carried out: too many requests in flight
    kBlocked,     // likewise, since nothing can be decided; payload: a sentence: which replica waits for which, and why
    kUnknown,     // a command that may or may not have been carried out, or a query that got no answer in time; a
                  // standing query that a later one has replaced
  };
  Outcome outcome = Outcome::kOk;
  Slot slot;                 // slots below it are applied in the state that answered
  std::string_view payload;  // valid during the callback only
  bool last = true;          // the submission's last answer; at present every request has just one
};

// Thread-safe. Retries within a request's deadline, with exactly-once effect for commands (client sessions).
class ReplicaClient {
 public:
  using Callback = std::function<void(const ReplicaReply&)>;

  virtual ~ReplicaClient() = default;

  // Calls `callback` for each answer up to the last one, from the client's own loop thread or, when overloaded, before
  // submit returns. `payload` is at most kRequestBytesMax, or
  // kQueryBytesMax of a query. A kLocalQuery, kStandingQuery or kDigest goes to `replica`,
  // or to the nearest one if that is kAnyReplica. A kMove goes to `replica`, and is never repeated: the answer would be
  // that of the second attempt.
  //
  // A kStandingQuery waits at its replica without a deadline, and is sent to another one when that dies or is stopped.
  // A client has one at a time: the next one takes its place.
  virtual void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica = kAnyReplica) = 0;

  static constexpr EndpointId kAnyReplica{0xffff};
  // For queries: so many replicas on from the nearest one, of those that seem usable. 0 is kAnyReplica.
  static constexpr EndpointId from_nearest(int places) {
    return EndpointId(static_cast<std::uint16_t>(kAnyReplica.value() - places % kReplicasMax));
  }
  // The places of from_nearest, and none for the name of a replica.
  static constexpr std::optional<int> places_from_nearest(EndpointId replica) {
    const int places = kAnyReplica.value() - replica.value();
    return places < kReplicasMax ? std::optional(places) : std::nullopt;
  }
};

}  // namespace ingot::replication_client
