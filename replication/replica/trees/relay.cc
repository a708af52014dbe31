#include "replication/replica/trees/relay.h"

#include <utility>

#include "core/wire.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {
namespace {

// Sequences wrap; of two, the one less than half the range ahead is newer.
bool newer(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }
bool newer16(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b)) > 0;
}

}  // namespace

Relay::Relay(EndpointId self, Incarnation incarnation, const TreeTable& table)
    : self_(self),
      incarnation_(static_cast<std::uint16_t>(incarnation.value())),
      table_(table),
      latest_(static_cast<std::size_t>(table.replicas())) {}

void Relay::broadcast(const GatheredMessage& message, Send send) {
  const int self = self_.value();
  const std::uint32_t version = table_.version();
  WireWriter out(kRelayHeaderBytes + message.size());
  out.u8(static_cast<std::uint8_t>(MessageClass::kRelayed)).u8(static_cast<std::uint8_t>(self));
  out.u16(incarnation_).u32(version).u32(next_sequence_++).raw(as_view(message.header)).raw(as_view(message.body));
  if (const RootedTree* tree = table_.find(version, self)) {
    for (const int child : tree->tree.children[self]) send(EndpointId(static_cast<std::uint16_t>(child)), out.view());
    return;
  }
  for (int peer = 0; peer < table_.replicas(); ++peer) {
    if (peer != self) send(EndpointId(static_cast<std::uint16_t>(peer)), out.view());
  }
}

void Relay::receive(EndpointId from, std::string_view bytes, Send send, Deliver deliver) {
  WireReader in(bytes.substr(1));  // the class is checked already
  const int root = in.u8();
  const std::uint16_t incarnation = in.u16();
  const std::uint32_t version = in.u32();
  const Header header{root, incarnation, version, in.u32()};
  const std::string_view message = in.rest();
  if (in.failed() || message.empty() || root >= table_.replicas() || root == self_.value() ||
      !forward(from, header, bytes, send)) {
    ++counts_.refused;
    return;
  }
  if (!is_new(header)) {
    ++counts_.late;
    return;
  }
  deliver(EndpointId(static_cast<std::uint16_t>(root)), message);
}

bool Relay::forward(EndpointId from, const Header& header, std::string_view bytes, Send send) {
  if (newer(header.version, table_.version())) {
    hold(header, bytes);
    return true;
  }
  const RootedTree* tree = table_.find(header.version, header.root);
  if (tree == nullptr) {
    // A root without a tree sends to all replicas; in a forgotten tree this replica may have had children.
    if (from.value() != header.root) ++counts_.unforwarded;
    return true;
  }
  const int self = self_.value();
  if (tree->parent[self] != from.value()) return false;
  for (const int child : tree->tree.children[self]) {
    send(EndpointId(static_cast<std::uint16_t>(child)), bytes);
    ++counts_.forwarded;
  }
  return true;
}

void Relay::hold(const Header& header, std::string_view bytes) {
  if (held_.size() >= kHeldMessagesMax || held_bytes_ + bytes.size() > kHeldBytesMax) {
    ++counts_.unforwarded;
    return;
  }
  held_bytes_ += bytes.size();
  held_.push_back({header, std::string(bytes)});
}

// When a message was held, its sender could not be checked against the tree, and it is not checked now: forwarding
// needs the tree's children only, and each of them checks that its own sender is its parent.
void Relay::table_changed(Send send) {
  for (std::size_t left = held_.size(); left > 0; --left) {
    Held held = std::move(held_.front());
    held_.pop_front();
    if (newer(held.header.version, table_.version())) {
      held_.push_back(std::move(held));
      continue;
    }
    held_bytes_ -= held.bytes.size();
    const RootedTree* tree = table_.find(held.header.version, held.header.root);
    if (tree == nullptr) {
      ++counts_.unforwarded;
      continue;
    }
    for (const int child : tree->tree.children[self_.value()]) {
      send(EndpointId(static_cast<std::uint16_t>(child)), held.bytes);
      ++counts_.forwarded;
    }
  }
}

bool Relay::is_new(const Header& header) {
  Latest& latest = latest_[header.root];
  if (latest.known && latest.incarnation == header.incarnation) {
    if (!newer(header.sequence, latest.sequence)) return false;
  } else if (latest.known && !newer16(header.incarnation, latest.incarnation)) {
    return false;  // of an earlier incarnation
  }
  latest = {header.incarnation, header.sequence, true};
  return true;
}

}  // namespace ingot::replication_replica_trees
