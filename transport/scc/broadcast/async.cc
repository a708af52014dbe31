#include "transport/scc/broadcast/async.h"

#include <algorithm>
#include <bit>

#include "transport/scc/broadcast/algorithms.h"
#include "transport/scc/rcce/gory.h"

namespace ingot::scc::inline transport_scc_broadcast {

AsyncBroadcast::AsyncBroadcast(Core& core, const Group& group, int k)
    : Broadcast(core, group), k_(k), interrupts_(core, [this](Core&, CoreSet senders) {
        take_announcements(senders);
        progress();
      }) {}

const PlaceInTree& AsyncBroadcast::place(int source) {
  const auto [found, inserted] = places_.try_emplace(source);
  if (inserted) found->second = place_in(k_ary_tree(group_, source, k_), group_, core_.id());
  return found->second;
}

// ---- Called by the program ----

void AsyncBroadcast::broadcast_all(std::span<const Message> messages) {
  start(messages);
  wait();
}

void AsyncBroadcast::start(std::span<const Message> messages) {
  interrupts_.attach();  // this may be a new program
  const Interrupts::Mask mask(interrupts_);
  delivered();
  for (const Message& message : messages) {
    INGOT_CHECK(group_.contains(message.source), "the source takes part in its broadcast");
    if (message.bytes == 0 || group_.size() == 1) continue;
    if (message.source == core_.id()) {
      own_.push_back(message);
    } else {
      streams_[static_cast<std::size_t>(message.source)].expected.push_back({message, message.bytes});
      ++missing_messages_;
    }
  }
  take_announcements(std::exchange(unplaced_, 0));
  progress();
}

void AsyncBroadcast::wait() {
  const Watch done{mpb_line(core_.id(), kDoneLine), kSlots * kDoneLines * kLineBytes};
  core_.wait_until(
      {done},
      [this] {
        {
          const Interrupts::Mask mask(interrupts_);
          progress();
        }
        return missing_messages_ == 0 && own_.empty() && forwards_.empty();
      },
      "broadcasts");
}

// ---- Receiving: in a handler, or with interrupts masked ----

void AsyncBroadcast::take_announcements(CoreSet senders) {
  for (; senders != 0; senders &= senders - 1) {
    const int sender = std::countr_zero(senders);
    if (!poll(sender)) unplaced_ |= CoreSet{1} << sender;
  }
}

bool AsyncBroadcast::poll(int sender) {
  bool placed = true;
  auto& seen = seen_[static_cast<std::size_t>(sender)];
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    core_.invalidate_mpb();
    const auto header = core_.load<Header>(mpb_line(sender, kHeaderLine + slot));
    if (header.publication == seen[slot]) continue;
    if (place(static_cast<int>(header.source)).parent == sender) {
      Expected* expected = find(header);
      if (expected == nullptr) {
        placed = false;
        continue;
      }
      receive(sender, slot, header, *expected);
    }
    seen[slot] = header.publication;
  }
  return placed;
}

AsyncBroadcast::Expected* AsyncBroadcast::find(const Header& header) {
  Stream& stream = streams_[header.source];
  const std::size_t index = header.message - stream.first;
  return index < stream.expected.size() ? &stream.expected[index] : nullptr;
}

void AsyncBroadcast::receive(int sender, std::size_t sender_slot, const Header& header, Expected& expected) {
  const Address to = expected.message.at + static_cast<Address>(header.chunk * kGetChunkBytes);
  const bool inner = !place(static_cast<int>(header.source)).children.empty();
  const std::size_t from_line = sender_slot * kGetChunkLines;
  const std::optional<std::size_t> slot = inner ? free_slot() : std::nullopt;
  if (slot.has_value()) {
    get_to_mpb(core_, *slot * kGetChunkLines, sender, from_line, header.bytes);
    acknowledge(sender, sender_slot, header);
    publish(*slot, header);
    get(core_, to, core_.id(), *slot * kGetChunkLines, header.bytes);
  } else {
    get(core_, to, sender, from_line, header.bytes);
    acknowledge(sender, sender_slot, header);
    if (inner) forwards_.push_back({header, to});
  }
  expected.missing_bytes -= header.bytes;
  if (expected.missing_bytes != 0) return;
  --missing_messages_;
  delivered();
  Stream& stream = streams_[header.source];
  while (!stream.expected.empty() && stream.expected.front().missing_bytes == 0) {
    stream.expected.pop_front();
    ++stream.first;
  }
}

Address AsyncBroadcast::done_word(int core, std::size_t slot, int position) const {
  return mpb_line(core, kDoneLine + slot * kDoneLines) + static_cast<Address>(position) * sizeof(std::uint32_t);
}

void AsyncBroadcast::acknowledge(int sender, std::size_t sender_slot, const Header& header) {
  core_.charge(core_.costs().put_mpb_call);
  const int position = place(static_cast<int>(header.source)).position;
  core_.store(done_word(sender, sender_slot, position), header.publication);
  core_.flush_wcb();
}

// ---- Sending: in a handler, or with interrupts masked ----

// The chunk is in the slot.
void AsyncBroadcast::publish(std::size_t slot, Header header) {
  const std::vector<int>& children = place(static_cast<int>(header.source)).children;
  slots_[slot].readers = children.size();
  header.publication = ++slots_[slot].publication;
  core_.charge(core_.costs().put_mpb_call);
  core_.store(mpb_line(core_.id(), kHeaderLine + slot), header);
  core_.flush_wcb();
  interrupts_.send(core_set(children));
}

void AsyncBroadcast::progress() {
  while (!forwards_.empty() || !own_.empty()) {
    const std::optional<std::size_t> slot = free_slot();
    if (!slot.has_value()) return;
    const Outgoing outgoing = *next_outgoing();
    put(core_, core_.id(), *slot * kGetChunkLines, outgoing.at, outgoing.header.bytes);
    publish(*slot, outgoing.header);
  }
}

// Other sources' chunks first: more cores wait for them.
std::optional<AsyncBroadcast::Outgoing> AsyncBroadcast::next_outgoing() {
  if (!forwards_.empty()) {
    const Outgoing outgoing = forwards_.front();
    forwards_.pop_front();
    return outgoing;
  }
  if (own_.empty()) return std::nullopt;
  const Message& message = own_.front();
  const std::size_t done = own_chunk_ * kGetChunkBytes;
  const std::size_t bytes = std::min(kGetChunkBytes, message.bytes - done);
  Outgoing outgoing;
  outgoing.header = {.source = static_cast<std::uint32_t>(core_.id()),
                     .message = own_message_,
                     .chunk = own_chunk_++,
                     .bytes = static_cast<std::uint32_t>(bytes)};
  outgoing.at = message.at + static_cast<Address>(done);
  if (done + bytes == message.bytes) {
    own_.pop_front();
    ++own_message_;
    own_chunk_ = 0;
  }
  return outgoing;
}

std::optional<std::size_t> AsyncBroadcast::free_slot() {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (slots_[slot].readers == 0) return slot;
    if (!all_done(slot)) continue;
    slots_[slot].readers = 0;
    return slot;
  }
  return std::nullopt;
}

bool AsyncBroadcast::all_done(std::size_t slot) {
  core_.invalidate_mpb();
  for (std::size_t first = 0; first < slots_[slot].readers; first += kWordsPerLine) {
    const auto words = core_.load<std::array<std::uint32_t, kWordsPerLine>>(
        done_word(core_.id(), slot, static_cast<int>(first)));
    const std::size_t count = std::min(kWordsPerLine, slots_[slot].readers - first);
    for (std::size_t i = 0; i < count; ++i) {
      if (words[i] != slots_[slot].publication) return false;
    }
  }
  return true;
}

MadeBroadcast make_oc_bcast_async(Core& core, const BroadcastSetup& setup) {
  return std::make_unique<AsyncBroadcast>(core, setup.group, setup.k);
}

}  // namespace ingot::scc::transport_scc_broadcast
