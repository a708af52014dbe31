#include "transport/scc/rckmpi/channel.h"

#include <algorithm>

#include "core/check.h"
#include "core/limits.h"
#include "transport/scc/rcce/gory.h"

namespace ingot::scc::inline transport_scc_rckmpi {

RckmpiChannel::RckmpiChannel(Core& core, const Group& group)
    : core_(core),
      group_(group),
      free_lines_((static_cast<std::size_t>(group.size()) + kWordsPerLine - 1) / kWordsPerLine),
      section_lines_((kGoryLines - free_lines_) / static_cast<std::size_t>(group.size())),
      peers_(static_cast<std::size_t>(group.size())) {
  INGOT_CHECK(section_lines_ >= 2, "a section has a header and a line of payload");
}

// After the sections, in the sender's MPB.
Address RckmpiChannel::free_word(int at_core, int receiver) const {
  return mpb_line(at_core, kGoryLines - free_lines_) +
         static_cast<Address>(static_cast<std::size_t>(group_.rank(receiver)) * sizeof(std::uint32_t));
}

// All lines that a progress loop reads.
std::vector<Watch> RckmpiChannel::watch_all() const { return {{mpb_line(core_.id(), 0), kGoryLines * kLineBytes}}; }

void RckmpiChannel::send(int to_core, std::uint32_t tag, std::span<const std::byte> message) {
  INGOT_CHECK(to_core != core_.id() && message.size() <= kMessageBytesMax, "a message that can be sent");
  const std::size_t most = (section_lines_ - 1) * kLineBytes;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(most, message.size() - done);
    const Header header{.number = 0,
                        .tag = tag,
                        .bytes = static_cast<std::uint32_t>(bytes),
                        .message_bytes = static_cast<std::uint32_t>(message.size())};
    send_packet(to_core, header, message.subspan(done, bytes));
    done += bytes;
  } while (done < message.size());
}

void RckmpiChannel::send_packet(int to_core, const Header& header, std::span<const std::byte> payload) {
  Peer& peer = peers_[static_cast<std::size_t>(group_.rank(to_core))];
  const Address free = free_word(core_.id(), to_core);
  core_.wait_until(
      watch_all(),
      [&] {
        core_.invalidate_mpb();
        if (core_.load<std::uint32_t>(free) == peer.sent) return true;
        poll_peers();  // else two cores that send to each other would deadlock
        return false;
      },
      "a free section");
  const std::size_t line = section_line(core_.id());
  core_.write(mpb_line(to_core, line + 1), payload);
  Header numbered = header;
  numbered.number = ++peer.sent;
  core_.store(mpb_line(to_core, line), numbered);
  core_.flush_wcb();
}

void RckmpiChannel::poll_peers() {
  core_.invalidate_mpb();
  for (const int source : group_.cores()) {
    if (source == core_.id()) continue;
    const auto header = core_.load<Header>(mpb_line(core_.id(), section_line(source)));
    if (header.number != peers_[static_cast<std::size_t>(group_.rank(source))].received) take_packet(source, header);
  }
}

void RckmpiChannel::take_packet(int source, const Header& header) {
  Peer& peer = peers_[static_cast<std::size_t>(group_.rank(source))];
  if (!peer.partial) unexpected_.push_back({source, header.tag, header.message_bytes, {}});
  const auto last = std::find_if(unexpected_.rbegin(), unexpected_.rend(),
                                 [source](const Message& message) { return message.source == source; });
  const std::size_t before = last->bytes.size();
  last->bytes.resize(before + header.bytes);
  core_.read(mpb_line(core_.id(), section_line(source) + 1), std::span(last->bytes).subspan(before));
  last->missing_bytes -= header.bytes;
  peer.partial = last->missing_bytes != 0;
  peer.received = header.number;
  core_.store(free_word(source, core_.id()), header.number);
  core_.flush_wcb();
}

RckmpiChannel::Received RckmpiChannel::receive(int source, std::uint32_t tag) {
  Received received;
  const auto match = [&] {
    for (auto message = unexpected_.begin(); message != unexpected_.end(); ++message) {
      core_.compute(kMatchCycles);
      if (message->tag != tag || (source != kAnySource && message->source != source)) continue;
      if (message->missing_bytes != 0) continue;
      received = {message->source, std::move(message->bytes)};
      unexpected_.erase(message);
      return true;
    }
    return false;
  };
  if (match()) return received;
  core_.wait_until(
      watch_all(),
      [&] {
        poll_peers();
        return match();
      },
      "a message");
  return received;
}

}  // namespace ingot::scc::transport_scc_rckmpi
