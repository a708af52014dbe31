// The run-time seam between protocols and machines: small messages between endpoints, in order, never lost.
#pragma once

#include <cstddef>
#include <span>

#include "absl/functional/function_ref.h"
#include "core/gathered_message.h"
#include "core/types.h"
#include "core/wire.h"

namespace ingot::inline transport {

// One endpoint's end of the transport. Used by the thread that runs that endpoint's loop only.
//
// Guarantees of every implementation (tests/transport/contract_test):
//  * FIFO per sender: messages of one sender arrive in the order of its successful sends, each exactly once.
//  * A sender or receiver that dies or stops between any two of its stores blocks only endpoints that wait for it.
//  * Everything is bounded and no message is dropped: send refuses a message to a full channel.
class Transport {
 public:
  using Handler = absl::FunctionRef<void(EndpointId from, std::span<const std::byte> message)>;

  virtual ~Transport() = default;

  virtual EndpointId self() const = 0;

  // Sends a message of 1 to kMessageBytesMax bytes. Returns false if the channel to `dest` is full: then nothing was
  // sent. Never blocks. A message that does not fit in the channel's free lines is accepted if no earlier one is still
  // being fragmented; its remaining fragments leave in later calls of send, probe or flush.
  // REQUIRES: dest is another endpoint of the same fabric.
  [[nodiscard]] virtual bool send(EndpointId dest, std::span<const std::byte> message) = 0;
  // The same with a message in two pieces, which by default are joined. Not the same function: short messages in one
  // piece would stream at half the speed (docs/design/transport.md).
  [[nodiscard]] virtual bool send_gathered(EndpointId dest, const GatheredMessage& message) {
    return send(dest, as_bytes(message.joined()));
  }

  // Passes up to `limit` received messages to `handler`; returns how many. The span is valid only during the call. The
  // handler may call send, not probe.
  virtual int probe(Handler handler, int limit) = 0;

  // Moves fragments that wait for room, then wakes the sleeping receivers of messages sent since the last flush. The
  // loop calls it once after each round of work. Returns true if fragments still wait.
  virtual bool flush() = 0;

  // True if parts of large messages, in or out, moved since the last call: more work is likely soon, even if probe
  // returned 0. Does not stay true while a peer is stopped.
  virtual bool parts_moved() = 0;

  // True if probe would find a message. May wrongly return true; never wrongly returns false for messages whose send
  // happened before (it checks behind holes of dead senders). The loop calls it again after it has announced its sleep.
  virtual bool readable() = 0;

  // The endpoint's process is known to be dead (not merely slow), so its half-written lines may be reclaimed. Messages
  // that it had sent completely are still handed out, unfinished ones never. Messages that wait for it are dropped, and
  // the channel to it is full from now on.
  virtual void peer_gone(EndpointId peer) = 0;
};

}  // namespace ingot::transport
