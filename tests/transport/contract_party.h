// The parts of the transport contract suite: a board that all parties share, and one party per endpoint.
//
// The same party runs as a thread and as a process. It talks to the others through a real fabric: shared memory, sleep
// words and doorbells. Messages identify themselves (message_pattern.h), so each receiver checks content, order and
// count itself; the board only holds the sums and the first failure.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/prng.h"
#include "core/types.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"

namespace ingot::test {

inline constexpr int kPartiesMax = 8;

// In memory shared by threads and processes. [from][to]
struct Board {
  using Table = std::array<std::array<std::atomic<std::uint32_t>, kPartiesMax>, kPartiesMax>;
  Table accepted{};  // send returned true
  Table complete{};  // of these, without fragments left behind
  Table received{};
  std::atomic<bool> stop{false};           // all parties leave
  std::atomic<bool> fault_happened{true};  // false: parties with an absent one wait for its fault before they finish
  std::atomic<int> finished{0};            // parties that have finished
  std::atomic<bool> failed{false};
  std::array<char, 512> what{};

  void fail(const std::string& why);
  std::string failure() const { return failed.load() ? std::string(what.data()) : ""; }
};

struct PartyPlan {
  std::string_view kind = "nvp";
  std::uint64_t seed = 1;
  int endpoints = 2;
  std::uint32_t messages = 100;    // to each other endpoint
  std::size_t bytes_max = 200;     // of one message
  bool sleeps = false;             // on the doorbell when there is no work, instead of yielding
};

// One endpoint. Used by one thread.
class Party {
 public:
  // `inboxes` and `waker` are the fabric's, as this process maps it.
  Party(const PartyPlan& plan, Fabric& fabric, EndpointId self, Board& board);

  // Sends and receives until there is nothing left to send or to expect, or Board::stop is set. `absent`: dead or
  // stopped endpoints, which need not receive anything, and from which only complete messages are expected.
  void run(const std::vector<int>& absent = {});

  // One round: a few messages to `to`, a probe, a flush. Returns false if there was no work.
  bool round();

  Transport& transport() { return *transport_; }
  std::size_t bytes_of(EndpointId from, EndpointId to, std::uint32_t n) const;

  // Sends the next message of the plan to that endpoint; false: the channel is full.
  bool send_next(EndpointId to);
  int receive(int limit);

 private:
  bool finished() const;
  bool is_absent(int endpoint) const;
  void wait();

  const PartyPlan plan_;
  Fabric& fabric_;
  const EndpointId self_;
  Board& board_;
  std::unique_ptr<Transport> transport_;
  Prng prng_;
  std::vector<int> absent_;
  std::array<std::uint32_t, kPartiesMax> accepted_{};
  std::array<std::uint32_t, kPartiesMax> received_{};
};

// The inboxes of a fabric, by endpoint.
std::vector<std::span<std::byte>> inboxes_of(const Fabric& fabric);

// Unmaps a board in shared memory.
struct BoardUnmapper {
  void operator()(Board* board) const;
};
std::unique_ptr<Board, BoardUnmapper> make_board();

Fabric make_fabric(const PartyPlan& plan);

}  // namespace ingot::test
