#include "transport/collectives/exchanges.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/collectives/collectives.h"
#include "transport/collectives/schedule_limits.h"

namespace ingot::inline transport_collectives {
namespace {

using NodeId = ScheduleBuilder::NodeId;

// Tags: the chunk's number for blocks that go straight; these two along the tree.
constexpr std::uint16_t kUp = 0x8000, kDown = 0x8001;
static_assert(kCollectiveBytesMax / kChunkBytes < kUp);

constexpr Computation kCopy{[](const void*, std::span<std::byte> target, std::span<const std::byte> source) {
                              if (!target.empty()) std::memcpy(target.data(), source.data(), target.size());
                            },
                            nullptr};

// The cores of the subtree, each before those below it.
std::vector<int> preorder(const Tree& tree, int core) {
  std::vector<int> order, open{core};
  while (!open.empty()) {
    order.push_back(open.back());
    open.pop_back();
    const auto& children = tree.children[static_cast<std::size_t>(order.back())];
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return order;
}

// Adds nodes of one member's part.
class ExchangeBuilder {
 public:
  // `block_bytes`: of one block.
  static absl::StatusOr<ExchangeBuilder> of(const MemberGroup& group, EndpointId self, std::size_t block_bytes) {
    auto seat = TreeSeat::of(group.tree, group.members, self, group.endpoints);
    if (!seat.ok()) return seat.status();
    if (block_bytes > kCollectiveBytesMax / group.members.size()) {
      return absl::InvalidArgumentError(absl::StrCat("a collective cannot carry ", group.members.size(), " blocks of ",
                                                     block_bytes, " bytes: at most ", kCollectiveBytesMax,
                                                     " are allowed together"));
    }
    return ExchangeBuilder(group, *std::move(seat), block_bytes);
  }

  absl::Status check_all(std::span<const std::byte> all, bool needed) const {
    const std::size_t bytes = needed ? block_bytes_ * group_->members.size() : 0;
    if (all.size() == bytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the memory for all blocks has ", all.size(), " bytes, where ", bytes, " are needed"));
  }

  bool root() const { return !seat_.parent; }
  bool by_tree() const { return block_bytes_ < kOneCopyBytes; }

  template <typename Byte>
  std::span<Byte> block(std::span<Byte> all, std::size_t member) const {
    return all.subspan(member * block_bytes_, block_bytes_);
  }
  std::size_t self() const { return static_cast<std::size_t>(order_[0]); }

  void copy(std::span<const std::byte> source, std::span<std::byte> target) {
    if (source.data() != target.data()) builder_.compute(kCopy, target, source);
  }

  // Blocks between this member and another, without the tree.
  void send_block(std::size_t member, std::span<const std::byte> source) {
    for_chunks([&](std::uint16_t chunk, std::size_t at, std::size_t bytes) {
      builder_.send(group_->members[member], chunk, source.subspan(at, bytes));
    });
  }
  void receive_block(std::size_t member, std::span<std::byte> target) {
    for_chunks([&](std::uint16_t chunk, std::size_t at, std::size_t bytes) {
      builder_.receive(group_->members[member], chunk, target.subspan(at, bytes));
    });
  }
  // Calls f(member) for all other members, from the next one on, so that not all begin with the same one.
  template <typename F>
  void for_others(F&& f) const {
    const std::size_t members = group_->members.size();
    for (std::size_t i = 1; i < members; ++i) f((self() + i) % members);
  }

  // Blocks of a subtree are collected in preorder and go up in one message. Returns the root's nodes after which `all`
  // has all blocks; elsewhere nothing.
  std::vector<NodeId> add_gather(std::span<const std::byte> own, std::span<std::byte> all) {
    std::vector<NodeId> placed;
    if (order_.size() == 1 && !root()) {
      builder_.send(*seat_.parent, kUp, own);
      return placed;
    }
    const auto buffer = builder_.buffer(order_.size() * block_bytes_);
    std::vector<NodeId> filled{builder_.compute(kCopy, block(buffer, 0), own)};
    for_children([&](EndpointId child, std::size_t first, std::size_t count) {
      const auto part = buffer.subspan(first * block_bytes_, count * block_bytes_);
      filled.push_back(builder_.receive(child, kUp, part));
      if (!root()) return;
      for (std::size_t i = first; i < first + count; ++i) {
        placed.push_back(builder_.compute(kCopy, place(all, i), block(buffer, i)));
        builder_.connect(filled.back(), placed.back());
      }
    });
    if (root()) {
      placed.push_back(builder_.compute(kCopy, place(all, 0), block(buffer, 0)));
      builder_.connect(filled[0], placed.back());
    } else {
      const NodeId send = builder_.send(*seat_.parent, kUp, buffer);
      for (const NodeId node : filled) builder_.connect(node, send);
    }
    return placed;
  }

  // Blocks of a subtree come down in preorder in one message.
  void add_scatter(std::span<const std::byte> all, std::span<std::byte> own) {
    if (order_.size() == 1 && !root()) {
      builder_.receive(*seat_.parent, kDown, own);
      return;
    }
    const auto buffer = builder_.buffer(order_.size() * block_bytes_);
    std::vector<NodeId> filled;  // by place in the buffer
    if (root()) {
      for (std::size_t i = 0; i < order_.size(); ++i) {
        filled.push_back(builder_.compute(kCopy, block(buffer, i), place(all, i)));
      }
    } else {
      filled.assign(order_.size(), builder_.receive(*seat_.parent, kDown, buffer));
    }
    builder_.connect(filled[0], builder_.compute(kCopy, own, block(buffer, 0)));
    for_children([&](EndpointId child, std::size_t first, std::size_t count) {
      const NodeId send = builder_.send(child, kDown, buffer.subspan(first * block_bytes_, count * block_bytes_));
      const std::size_t last = root() ? first + count : first + 1;  // below the root there is one node for all
      for (std::size_t i = first; i < last; ++i) builder_.connect(filled[i], send);
    });
  }

  // The root's `all` to all members.
  void add_broadcast(std::span<std::byte> all, std::vector<NodeId> ready) {
    if (!root()) ready = {builder_.receive(*seat_.parent, kDown, all)};
    for (const EndpointId child : seat_.children) {
      const NodeId send = builder_.send(child, kDown, all);
      for (const NodeId node : ready) builder_.connect(node, send);
    }
  }

  absl::StatusOr<Schedule> build() { return builder_.build(); }

 private:
  ExchangeBuilder(const MemberGroup& group, TreeSeat seat, std::size_t block_bytes)
      : group_(&group),
        seat_(std::move(seat)),
        block_bytes_(block_bytes),
        order_(preorder(group.tree, core_of(group, seat_.self))),
        builder_(seat_.self, seat_.endpoints) {}

  static int core_of(const MemberGroup& group, EndpointId self) {
    return static_cast<int>(std::find(group.members.begin(), group.members.end(), self) - group.members.begin());
  }

  template <typename F>
  void for_chunks(F&& f) const {
    std::size_t at = 0;
    std::uint16_t chunk = 0;
    do {
      const std::size_t bytes = std::min(kChunkBytes, block_bytes_ - at);
      f(chunk++, at, bytes);
      at += bytes;
    } while (at < block_bytes_);
  }

  // Calls f(child, place of its first block in preorder, number of its blocks).
  template <typename F>
  void for_children(F&& f) const {
    std::size_t first = 1;
    for (const int child : group_->tree.children[self()]) {
      const std::size_t count = preorder(group_->tree, child).size();
      f(group_->members[static_cast<std::size_t>(child)], first, count);
      first += count;
    }
  }

  // In `all`, the block that is at place i in preorder.
  template <typename Byte>
  std::span<Byte> place(std::span<Byte> all, std::size_t i) const {
    return block(all, static_cast<std::size_t>(order_[i]));
  }

  const MemberGroup* group_;
  TreeSeat seat_;
  std::size_t block_bytes_;
  std::vector<int> order_;  // of this member's subtree
  ScheduleBuilder builder_;
};

}  // namespace

absl::StatusOr<Schedule> make_gather(const MemberGroup& group, EndpointId self, std::span<const std::byte> block,
                                     std::span<std::byte> all) {
  auto part = ExchangeBuilder::of(group, self, block.size());
  if (!part.ok()) return part.status();
  if (auto status = part->check_all(all, part->root()); !status.ok()) return status;
  if (part->by_tree()) {
    part->add_gather(block, all);
  } else if (part->root()) {
    part->copy(block, part->block(all, part->self()));
    part->for_others([&](std::size_t member) { part->receive_block(member, part->block(all, member)); });
  } else {
    part->send_block(static_cast<std::size_t>(group.tree.root), block);
  }
  return part->build();
}

absl::StatusOr<Schedule> make_scatter(const MemberGroup& group, EndpointId self, std::span<const std::byte> all,
                                      std::span<std::byte> block) {
  auto part = ExchangeBuilder::of(group, self, block.size());
  if (!part.ok()) return part.status();
  if (auto status = part->check_all(all, part->root()); !status.ok()) return status;
  if (part->by_tree()) {
    part->add_scatter(all, block);
  } else if (part->root()) {
    part->copy(part->block(all, part->self()), block);
    part->for_others([&](std::size_t member) { part->send_block(member, part->block(all, member)); });
  } else {
    part->receive_block(static_cast<std::size_t>(group.tree.root), block);
  }
  return part->build();
}

absl::StatusOr<Schedule> make_allgather(const MemberGroup& group, EndpointId self, std::span<const std::byte> block,
                                        std::span<std::byte> all) {
  auto part = ExchangeBuilder::of(group, self, block.size());
  if (!part.ok()) return part.status();
  if (auto status = part->check_all(all, true); !status.ok()) return status;
  if (part->by_tree()) {
    part->add_broadcast(all, part->add_gather(block, all));
    return part->build();
  }
  part->copy(block, part->block(all, part->self()));
  part->for_others([&](std::size_t member) {
    part->send_block(member, block);
    part->receive_block(member, part->block(all, member));
  });
  return part->build();
}

absl::StatusOr<Schedule> make_all_to_all(const MemberGroup& group, EndpointId self, std::span<const std::byte> from,
                                         std::span<std::byte> to) {
  auto part = ExchangeBuilder::of(group, self, group.members.empty() ? 0 : to.size() / group.members.size());
  if (!part.ok()) return part.status();
  if (auto status = part->check_all(from, true); !status.ok()) return status;
  if (auto status = part->check_all(to, true); !status.ok()) return status;
  part->copy(part->block(from, part->self()), part->block(to, part->self()));
  part->for_others([&](std::size_t member) {
    part->send_block(member, part->block(from, member));
    part->receive_block(member, part->block(to, member));
  });
  return part->build();
}

}  // namespace ingot::transport_collectives
