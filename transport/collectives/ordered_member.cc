#include "transport/collectives/ordered_member.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ingot::inline transport_collectives {

OrderedMember::OrderedMember(GroupId group, EndpointId self, int endpoints, const OrderedTree& tree)
    : group_(group), self_(self), endpoints_(endpoints), root_(tree.root()), tree_(tree) {
  INGOT_CHECK(tree.has(self) && self != root_);
  take_seat(0);
}

// Finds the neighbours in tree_. `base`: the first sequence that comes along this tree.
void OrderedMember::take_seat(std::uint64_t base) {
  children_.clear();
  excluded_ = !tree_.has(self_);
  if (excluded_) return;
  const auto at = std::find(tree_.members.begin(), tree_.members.end(), self_) - tree_.members.begin();
  parent_ = tree_.members[static_cast<std::size_t>(parents_of(tree_.tree)[static_cast<std::size_t>(at)])];
  for (const int child : tree_.tree.children[static_cast<std::size_t>(at)]) {
    children_.push_back({tree_.members[static_cast<std::size_t>(child)], base});
  }
  wanted_.clear();  // all below the base; the join reports these
}

void OrderedMember::receive(EndpointId from, const OrderedMessage& message, OrderedEffects& effects) {
  switch (message.type) {
    case OrderedType::kNewEpoch:
      return receive_new_epoch(from, message, effects);
    case OrderedType::kOrdered:
    case OrderedType::kCatchUp:
      return receive_ordered(from, message, effects);
    case OrderedType::kTaken:
      return receive_taken(from, message, effects);
    default:
      ++dropped_;
  }
}

void OrderedMember::receive_new_epoch(EndpointId from, const OrderedMessage& message, OrderedEffects& effects) {
  auto tree = decode_tree(message.payload, endpoints_);
  if (from != root_ || message.epoch <= epoch_ || !tree || tree->root() != root_) {
    ++dropped_;
    return;
  }
  epoch_ = message.epoch;
  tree_ = *std::move(tree);
  take_seat(message.number);
  if (excluded_) return;
  send(root_, OrderedType::kJoined, next_, effects);
  catching_up_to_.reset();
  if (next_ < message.number) catching_up_to_ = message.number;
  deliver_held(effects);
}

void OrderedMember::receive_ordered(EndpointId from, const OrderedMessage& message, OrderedEffects& effects) {
  const bool direct = message.type == OrderedType::kCatchUp;
  const bool here = message.epoch == epoch_ && from == (direct ? root_ : parent_);
  const bool early = message.epoch > epoch_ && !direct;
  if (excluded_ || (!here && !early)) {
    ++dropped_;
    return;
  }
  OrderedEntry entry{message.sequence, message.number, message.endpoint, message.wants_taken,
                     std::make_shared<const std::string>(encode(message))};
  if (here && !direct) {
    for (const Child& child : children_) effects.messages.push_back({child.endpoint, entry.message});
  }
  if (here && entry.sequence == next_) {
    deliver(std::move(entry), effects);
  } else {
    hold(std::move(entry), message.epoch);
  }
  deliver_held(effects);
}

void OrderedMember::hold(OrderedEntry entry, std::uint32_t epoch) {
  const std::uint64_t sequence = entry.sequence;
  const bool in_window = sequence >= next_ && sequence - next_ < kOrderedWindow;
  if (!in_window || !held_.try_emplace(sequence, Held{std::move(entry), epoch}).second) ++dropped_;
}

// Delivers the next messages as long as they are held and of no later epoch.
void OrderedMember::deliver_held(OrderedEffects& effects) {
  while (!held_.empty() && held_.begin()->second.epoch <= epoch_ && held_.begin()->first <= next_) {
    OrderedEntry entry = std::move(held_.begin()->second.entry);
    held_.erase(held_.begin());
    if (entry.sequence == next_) deliver(std::move(entry), effects);
  }
  if (catching_up_to_ && next_ >= *catching_up_to_) {
    catching_up_to_.reset();
    send(root_, OrderedType::kJoined, next_, effects);
  }
  tell_taken(effects);
}

void OrderedMember::deliver(OrderedEntry entry, OrderedEffects& effects) {
  next_ = entry.sequence + 1;
  if (entry.wants_taken) wanted_.push_back(entry.sequence);
  effects.delivered.push_back(std::move(entry));
}

void OrderedMember::receive_taken(EndpointId from, const OrderedMessage& message, OrderedEffects& effects) {
  const auto child =
      std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.endpoint == from; });
  if (message.epoch != epoch_ || child == children_.end()) {
    ++dropped_;
    return;
  }
  child->taken = std::max(child->taken, message.sequence);
  tell_taken(effects);
}

// Reports to the parent once the whole subtree has delivered a message that the parent asked about.
void OrderedMember::tell_taken(OrderedEffects& effects) {
  std::uint64_t taken = next_;
  for (const Child& child : children_) taken = std::min(taken, child.taken);
  bool tell = false;
  for (; !wanted_.empty() && wanted_.front() < taken; wanted_.pop_front()) tell = true;
  if (tell) send(parent_, OrderedType::kTaken, taken, effects);
}

void OrderedMember::send(EndpointId to, OrderedType type, std::uint64_t sequence, OrderedEffects& effects) const {
  OrderedMessage message;
  message.type = type;
  message.group = group_;
  message.epoch = epoch_;
  message.sequence = sequence;
  effects.messages.push_back({to, std::make_shared<const std::string>(encode(message))});
}

}  // namespace ingot::transport_collectives
