// OC-Bcast's asynchronous form (papers, section 5): one parallel interrupt notifies all children, and its handler does
// the work, so the program may compute meanwhile. Acknowledgements are polled.
//
// Any number of sources broadcast at the same time, each down its own k-ary tree, without locks. This is safe because
// no handler ever waits:
//
//    line 0 ...... 95   96 ..... 191   192, 193   194 ... 199    200 ... 205
//    | slot 0          | slot 1      | headers  | done, slot 0 | done, slot 1
//
//    * A core publishes a chunk in a free slot of its own MPB: payload, then the slot's header line (publication
//      number, message, chunk), then one interrupt to its children in that message's tree. A slot is free when all
//      these children have written the publication's number into their done words (one word by child).
//    * A child's handler reads the headers of the cores that interrupted it. A chunk that it must forward goes into a
//      free slot of its own MPB, and is acknowledged, published, and then copied to private memory. If no slot is free,
//      the chunk goes straight to private memory, is acknowledged, and is queued there until a slot is free. So every
//      chunk is acknowledged after a time that depends on no other core, and trees of different sources cannot block
//      each other.
//    * Queues advance in handlers and while the program waits in broadcast_all.
//
// A message without a known place (the program has not called broadcast_all for it) stays where it is.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>

#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/broadcast/get_tree.h"
#include "transport/scc/interrupts/interrupts.h"

namespace ingot::scc::inline transport_scc_broadcast {

class AsyncBroadcast : public Broadcast {
 public:
  AsyncBroadcast(Core& core, const Group& group, int k);

  // start() and wait() in one.
  void broadcast_all(std::span<const Message> messages) override;

  // Gives the places of messages, and starts to send those of which this core is the source. Returns at once.
  void start(std::span<const Message> messages);
  // Returns when all started messages have arrived or were forwarded; their copies in private memory may then change.
  void wait();

 private:
  static constexpr std::size_t kSlots = 2;
  static constexpr std::size_t kHeaderLine = kSlots * kGetChunkLines;
  static constexpr std::size_t kDoneLine = kHeaderLine + kSlots;
  static constexpr std::size_t kWordsPerLine = kLineBytes / sizeof(std::uint32_t);
  static constexpr std::size_t kDoneLines = kCores / kWordsPerLine;  // of one slot

  struct Header {
    std::uint32_t publication = 0;  // counted for each slot; 0: none yet
    std::uint32_t source = 0;
    std::uint32_t message = 0;  // counted for each source
    std::uint32_t chunk = 0;
    std::uint32_t bytes = 0;  // of this chunk
    std::uint32_t unused[3] = {};
  };
  static_assert(sizeof(Header) == kLineBytes);
  static_assert(kDoneLine + kSlots * kDoneLines <= kGoryLines);

  struct Slot {
    std::uint32_t publication = 0;
    std::size_t readers = 0;  // of the last publication, until they are done
  };
  struct Outgoing {  // in private memory
    Header header;
    Address at = 0;
  };
  struct Expected {
    Message message;
    std::size_t missing_bytes = 0;
  };
  struct Stream {  // of one source
    std::uint32_t first = 0;  // number of the front
    std::deque<Expected> expected;
  };

  void run(const Message& message) override { broadcast_all({&message, 1}); }
  const PlaceInTree& place(int source);
  Address done_word(int core, std::size_t slot, int position) const;

  void take_announcements(CoreSet senders);
  bool poll(int sender);  // false: some chunk there has no place yet
  void receive(int sender, std::size_t sender_slot, const Header& header, Expected& expected);
  void acknowledge(int sender, std::size_t sender_slot, const Header& header);
  Expected* find(const Header& header);

  void progress();
  std::optional<Outgoing> next_outgoing();
  std::optional<std::size_t> free_slot();
  bool all_done(std::size_t slot);
  void publish(std::size_t slot, Header header);

  const int k_;
  std::map<int, PlaceInTree> places_;  // by source
  std::array<Slot, kSlots> slots_;
  std::array<std::array<std::uint32_t, kSlots>, kCores> seen_{};  // publications, by sender
  std::array<Stream, kCores> streams_;                            // by source
  CoreSet unplaced_ = 0;                                          // senders whose chunks have no place yet
  std::size_t missing_messages_ = 0;
  std::deque<Outgoing> forwards_;
  std::deque<Message> own_;
  std::uint32_t own_message_ = 0;  // number of the front of own_
  std::uint32_t own_chunk_ = 0;    // its next chunk
  Interrupts interrupts_;          // last member: its handler uses all others
};

}  // namespace ingot::scc::transport_scc_broadcast
