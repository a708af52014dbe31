// Every ordered access of the channel protocols, and which release pairs with which acquire.
//
// A protocol uses the site of an access instead of a bare memory order. On the host that costs nothing. A test machine
// can weaken one site at a time and must then find a violated property: so every order in this list is needed.
#pragma once

#include <cstdint>

namespace ingot::inline transport {

enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease };

enum class Site : std::uint8_t {
  kRelaxed,  // an access that orders nothing

  // NVP. notify -> poll: the slots written before are visible. return_credit -> take_credit: the slots read before may
  // be overwritten.
  kNvpNotify,        // release: sender stores its byte of the notification vector
  kNvpPoll,          // acquire: receiver reads a line of the notification vector
  kNvpReturnCredit,  // release: receiver stores the number of a sender's lines that it has read
  kNvpTakeCredit,    // acquire: sender without credit loads that number

  // SRBP. publish -> poll: the line is complete. return_head -> take_head: places before head may be reused, and their
  // next senders see which are blocked; draws pass both on to senders that did not load head themselves. give_up ->
  // see_given_up: which ticket it was. unblock -> check_blocked: a late line has been read, its place may be reused.
  kSrbpDrawAcquire,   // acquire half of the draw
  kSrbpDrawRelease,   // release half of the draw
  kSrbpPublish,       // release: sender stores the sequence number into its line
  kSrbpPoll,          // acquire: receiver loads the sequence number at its head
  kSrbpPollParked,    // acquire: receiver loads the sequence number of a parked ticket
  kSrbpReturnHead,    // release: receiver stores its head
  kSrbpTakeHead,      // acquire: sender at its quota loads head
  kSrbpGiveUp,        // release: sender stores that it gave up a ticket
  kSrbpSeeGivenUp,    // acquire: receiver loads the given-up tickets
  kSrbpUnblock,       // release: receiver stores that a place is no longer blocked
  kSrbpCheckBlocked,  // acquire: sender checks whether the place it drew is blocked

  // The tree barrier. arrive -> gather: what a subtree did before the barrier is visible to its parent. release ->
  // leave: what all participants did before it is visible to a participant that leaves it.
  kBarrierArrive,   // release: a participant tells its parent that its whole subtree has arrived
  kBarrierGather,   // acquire: the parent waits for that
  kBarrierRelease,  // release: a parent tells a child that all participants outside its subtree have arrived
  kBarrierLeave,    // acquire: the child waits for that

  kCount,
};

constexpr Order order_of(Site site) {
  switch (site) {
    case Site::kNvpNotify:
    case Site::kNvpReturnCredit:
    case Site::kSrbpDrawRelease:
    case Site::kSrbpPublish:
    case Site::kSrbpReturnHead:
    case Site::kSrbpGiveUp:
    case Site::kSrbpUnblock:
    case Site::kBarrierArrive:
    case Site::kBarrierRelease:
      return Order::kRelease;
    case Site::kNvpPoll:
    case Site::kNvpTakeCredit:
    case Site::kSrbpDrawAcquire:
    case Site::kSrbpPoll:
    case Site::kSrbpPollParked:
    case Site::kSrbpTakeHead:
    case Site::kSrbpSeeGivenUp:
    case Site::kSrbpCheckBlocked:
    case Site::kBarrierGather:
    case Site::kBarrierLeave:
      return Order::kAcquire;
    case Site::kRelaxed:
    case Site::kCount:
      break;
  }
  return Order::kRelaxed;
}

}  // namespace ingot::transport
