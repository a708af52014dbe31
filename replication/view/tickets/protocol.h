// What is said on the view socket, a stream of the machine's own byte order.
//
//   publisher  TicketAnswer, a text         at once, or as soon as there is a view; with code 0 two descriptors come
//                                           with it: board, generation. With another code the text says why, and the
//                                           connection ends
//   client     ViewAsk, a prefix            any number of times, one at a time
//   publisher  one byte                     kWait: a key with that prefix may have changed after that revision
//
// A client that wants no more than a ticket hangs up. The end of a connection means: connect again.
#pragma once

#include <cstdint>

namespace ingot::inline replication_view_tickets {

inline constexpr std::uint64_t kTicketMagic = 0x314b43495457;  // "WTICK1"

struct TicketAnswer {
  std::uint64_t magic = kTicketMagic;
  std::uint32_t code = 0;  // absl::StatusCode
  std::uint32_t text_bytes = 0;
};
static_assert(sizeof(TicketAnswer) == 16);

enum class ViewAskKind : std::uint32_t {
  kWait = 1,  // one byte when a key with the prefix has changed after the revision; takes the place of the one before
  kAge = 2,   // from now on, and until this connection ends, the board tells the view's age; no prefix, no answer
};

struct ViewAsk {
  ViewAskKind kind = ViewAskKind::kWait;
  std::uint32_t prefix_bytes = 0;
  std::int64_t revision = 0;
};
static_assert(sizeof(ViewAsk) == 16);

inline constexpr char kChangedByte = 'c';

}  // namespace ingot::replication_view_tickets
