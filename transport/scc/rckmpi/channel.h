// A channel in the manner of RCKMPI, the SCC's MPI: the baseline for NVP and SRBP (papers, section 6).
//
// Each MPB is divided into as many sections as there are cores in the group, one for each sender. A section is a header
// line and payload lines. The sender writes payload and then the header into **its** section at the **receiver**; the
// receiver polls one header line for each peer, in turn, copies the payload to private memory, frees the section by a
// word at the sender, and matches the message with the program's receives.
//
//    section of a sender:  line 0  header: number, tag, bytes, bytes of the message | lines 1 ...  payload
//    free flags            one word by receiver, at the sender: the number that its receiver has emptied last
//
// With 48 cores a section has four lines, 96 bytes of payload; longer messages go in packets. The further costs of MPI
// (requests, communicators, datatypes) are left out, except that matching checks one entry after the other for
// kMatchCycles each. So this is a lower bound of RCKMPI.
//
// One object a core, used by that core's program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transport/scc/core.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_rckmpi {

class RckmpiChannel {
 public:
  static constexpr std::uint64_t kMatchCycles = 20;  // assumed: a list entry that may miss L1, compares, a branch
  static constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;
  static constexpr int kAnySource = -1;

  // REQUIRES: the group contains the core; all of the group's MPBs are 0.
  RckmpiChannel(Core& core, const Group& group);

  // Returns when the whole message is in the receiver's MPB; until then it also receives other cores' messages.
  // REQUIRES: another core of the group; at most kMessageBytesMax bytes.
  void send(int to_core, std::uint32_t tag, std::span<const std::byte> message);

  struct Received {
    int source = -1;
    std::vector<std::byte> bytes;
  };
  // The first message with that tag from that core, or from any core (kAnySource). FIFO for a pair of cores and a tag.
  Received receive(int source, std::uint32_t tag);

 private:
  struct Header {
    std::uint32_t number = 0;  // of the packet, counted by section; 0: none yet
    std::uint32_t tag = 0;
    std::uint32_t bytes = 0;          // in this packet
    std::uint32_t message_bytes = 0;  // of the whole message
    std::uint32_t unused[4] = {};
  };
  static_assert(sizeof(Header) == kLineBytes);

  struct Message {
    int source = -1;
    std::uint32_t tag = 0;
    std::size_t missing_bytes = 0;
    std::vector<std::byte> bytes;
  };
  struct Peer {
    std::uint32_t sent = 0;      // packets to it
    std::uint32_t received = 0;  // packets from it
    bool partial = false;        // its last message in unexpected_ is incomplete
  };

  static constexpr std::size_t kWordsPerLine = kLineBytes / sizeof(std::uint32_t);

  std::size_t section_line(int sender) const { return static_cast<std::size_t>(group_.rank(sender)) * section_lines_; }
  Address free_word(int at_core, int receiver) const;
  void poll_peers();
  void take_packet(int source, const Header& header);
  void send_packet(int to_core, const Header& header, std::span<const std::byte> payload);
  std::vector<Watch> watch_all() const;

  Core& core_;
  const Group group_;
  const std::size_t free_lines_;
  const std::size_t section_lines_;
  std::vector<Peer> peers_;         // by rank
  std::deque<Message> unexpected_;  // in the order of their first packets
};

}  // namespace ingot::scc::transport_scc_rckmpi
