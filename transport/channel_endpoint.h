// A channel protocol as a Transport: divides messages into lines, reassembles them, counts traffic, and wakes
// receivers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/gathered_message.h"
#include "core/limits.h"
#include "transport/channel_transport.h"
#include "transport/fragments.h"
#include "transport/limits.h"
#include "transport/transport.h"
#include "transport/waker.h"

namespace ingot::inline transport {

// Channel is NvpChannel or SrbpChannel over some Memory. Used by its endpoint's thread only.
template <typename Channel>
class ChannelEndpoint final : public ChannelTransport {
 public:
  // `waker` may be null: then receivers never sleep. `links`: by peer; peers beyond its size are not counted.
  ChannelEndpoint(Channel channel, Waker* waker, std::vector<LinkHooks> links)
      : channel_(std::move(channel)), waker_(waker), links_(std::move(links)) {
    const auto endpoints = static_cast<std::size_t>(channel_.endpoints());
    links_.resize(endpoints);
    staged_.resize(endpoints);
    partial_.resize(endpoints);
    to_wake_.resize(endpoints);
    gone_.resize(endpoints);
  }

  EndpointId self() const override { return channel_.self(); }

  [[nodiscard]] bool send(EndpointId dest, std::span<const std::byte> message) override {
    if (!may_send(dest, message.size())) return false;
    if (message.size() <= Channel::kPayloadBytes) {
      const LineHeader header{self(), true, true, static_cast<std::uint8_t>(message.size())};
      if (!channel_.write_line(dest, header, message)) {
        wake_later(dest);  // only its poll makes room
        return false;
      }
      published(dest);
    } else if (!send_fragments(dest, message)) {
      return false;
    }
    links_[dest.value()].count_sent(message.size());
    return true;
  }

  [[nodiscard]] bool send_gathered(EndpointId dest, const GatheredMessage& message) override {
    if (message.header.empty()) return send(dest, message.body);
    if (message.body.empty()) return send(dest, message.header);
    if (message.size() <= Channel::kPayloadBytes) {
      std::byte joined[Channel::kPayloadBytes];
      message.copy_to(joined);
      return send(dest, {joined, message.size()});
    }
    if (!may_send(dest, message.size()) || !send_fragments(dest, message)) return false;
    links_[dest.value()].count_sent(message.size());
    return true;
  }

  int probe(Handler handler, int limit) override {
    if (!staging_.empty()) move_all_staged();
    return channel_.receive(limit, [&](EndpointId from, const LineHeader& header, std::span<const std::byte> payload) {
      std::span<const std::byte> message;
      if (!partial_[from.value()].add(header, payload, message)) {
        parts_moved_ = true;
        wake_later(from);  // it may sleep until there is room for the rest
        return false;
      }
      links_[from.value()].count_received(message.size());
      handler(from, message);
      return true;
    });
  }

  bool flush() override {
    if (!staging_.empty()) move_all_staged();
    if (!woken_.empty()) wake_receivers();
    return !staging_.empty();
  }

  bool parts_moved() override { return std::exchange(parts_moved_, false); }

  bool readable() override { return channel_.readable(); }

  void peer_gone(EndpointId peer) override {
    gone_[peer.value()] = 1;
    staged_[peer.value()].clear();
    std::erase(staging_, peer);
    channel_.peer_gone(peer);
  }

  bool peer_settled(EndpointId peer) override { return channel_.peer_settled(peer); }

  // As below, for an inbox that stays in place and was filled with zeros.
  void peer_back(EndpointId peer) {
    gone_[peer.value()] = 0;
    partial_[peer.value()].reset();
    channel_.peer_back(peer);
  }

  void peer_back(EndpointId peer, std::span<std::byte> inbox) override {
    if constexpr (requires { channel_.memory().set_inbox(peer, inbox); }) {
      channel_.memory().set_inbox(peer, inbox);
    } else {
      INGOT_CHECK(false, "inboxes of this memory stay where they are");
    }
    peer_back(peer);
  }

  void peer_unready(EndpointId peer) override { gone_[peer.value()] = 1; }

  void peer_ready(EndpointId peer) override {
    gone_[peer.value()] = 0;
    channel_.peer_ready(peer);
  }

  Channel& channel() { return channel_; }

 private:
  static constexpr bool kHasBulk = requires(Channel& channel) { channel.bulk_bytes(); };

  bool may_send(EndpointId dest, std::size_t bytes) {
    INGOT_CHECK(dest.value() < staged_.size() && dest != self(), "a message goes to another endpoint of the fabric");
    INGOT_CHECK(bytes > 0 && bytes <= kMessageBytesMax);
    return !gone_[dest.value()] && (staged_[dest.value()].empty() || move_staged(dest));
  }

  // What one line may carry. Parts of messages from kBulkFromBytes on lie beside their lines, if the channel has room
  // there.
  std::size_t payload_bytes_max(bool bulk) const {
    if constexpr (kHasBulk) {
      if (bulk) return channel_.bulk_bytes();
    }
    return Channel::kPayloadBytes;
  }
  bool is_bulk(std::size_t rest_bytes) const {
    const std::size_t most = payload_bytes_max(true);
    return most > Channel::kPayloadBytes && rest_bytes >= std::min(kBulkFromBytes, most);
  }

  // One line of a longer message. A channel writes a line's payload at once, so a line of both pieces is joined first.
  bool write_line(EndpointId dest, const LineHeader& header, const GatheredMessage& payload) {
    if constexpr (kHasBulk) {
      if (header.bulk) return channel_.write_bulk(dest, header, payload);
    }
    std::byte joined[Channel::kPayloadBytes];
    std::span<const std::byte> whole = payload.body;
    if (!payload.header.empty()) {
      payload.copy_to(joined);
      whole = {joined, payload.size()};
    }
    return channel_.write_line(dest, header, whole);
  }

  // Writes lines of `rest` until all of it is written or the channel is full; returns the number of bytes written.
  std::size_t write_lines(EndpointId dest, const GatheredMessage& rest, bool first) {
    std::size_t written = 0;
    while (written < rest.size()) {
      const bool bulk = is_bulk(rest.size() - written);
      const std::size_t bytes = std::min(payload_bytes_max(bulk), rest.size() - written);
      const bool last = written + bytes == rest.size();
      const LineHeader header{self(), first && written == 0, last, static_cast<std::uint8_t>(bulk ? 0 : bytes), bulk};
      if (!write_line(dest, header, rest.part(written, bytes))) break;
      written += bytes;
    }
    if (written > 0) published(dest);
    if (written < rest.size()) wake_later(dest);
    return written;
  }

  // Out of the way of short messages.
  [[gnu::noinline]] bool send_fragments(EndpointId dest, const GatheredMessage& message) {
    const std::size_t written = write_lines(dest, message, true);
    if (written == 0) return false;
    if (written < message.size()) {
      staged_[dest.value()].stage(message.part(written, message.size() - written));
      staging_.push_back(dest);
    }
    return true;
  }

  // Returns true if no part is staged for `dest` any more.
  bool move_staged(EndpointId dest) {
    StagedMessage& staged = staged_[dest.value()];
    const std::size_t written = write_lines(dest, staged.rest(), false);
    parts_moved_ = parts_moved_ || written > 0;
    staged.advance(written);
    if (staged.empty()) std::erase(staging_, dest);
    return staged.empty();
  }

  void move_all_staged() {
    // Backwards, since move_staged removes finished entries.
    for (std::size_t i = staging_.size(); i-- > 0;) static_cast<void>(move_staged(staging_[i]));
  }

  void published(EndpointId dest) {
    channel_.publish(dest);
    wake_later(dest);
  }

  void wake_later(EndpointId dest) {
    if (!to_wake_[dest.value()]) {
      to_wake_[dest.value()] = 1;
      woken_.push_back(dest);
    }
  }

  void wake_receivers() {
    if (waker_ != nullptr) {
      // Pairs with the fence of a receiver's loop between announcing its sleep and its last poll.
      channel_.memory().store_load_fence();
    }
    for (const EndpointId dest : woken_) {
      to_wake_[dest.value()] = 0;
      if (waker_ != nullptr && waker_->asleep(dest)) waker_->ring(dest);
    }
    woken_.clear();
  }

  Channel channel_;
  Waker* const waker_;
  std::vector<LinkHooks> links_;  // by peer
  std::vector<StagedMessage> staged_;  // by destination
  std::vector<Reassembly> partial_;    // by source
  std::vector<EndpointId> staging_;    // destinations whose staged_ is not empty
  std::vector<EndpointId> woken_;      // destinations to wake at the next flush, each once
  std::vector<std::uint8_t> to_wake_;  // by destination: 1 if in woken_
  bool parts_moved_ = false;           // since the last call of parts_moved()
  std::vector<std::uint8_t> gone_;     // by peer: 1 between peer_gone and peer_back, peer_unready and peer_ready
};

}  // namespace ingot::transport
