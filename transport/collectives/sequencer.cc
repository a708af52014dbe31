#include "transport/collectives/sequencer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/collectives/collectives.h"

namespace ingot::inline transport_collectives {

OrderedTree tree_without(const OrderedTree& tree, EndpointId member) {
  const auto gone =
      static_cast<int>(std::find(tree.members.begin(), tree.members.end(), member) - tree.members.begin());
  INGOT_CHECK(gone < tree.tree.size() && gone != tree.tree.root);
  const auto renumbered = [gone](int core) { return core > gone ? core - 1 : core; };
  OrderedTree result;
  result.tree = Tree(tree.tree.size() - 1, renumbered(tree.tree.root));
  for (int core = 0; core < tree.tree.size(); ++core) {
    if (core == gone) continue;
    result.members.push_back(tree.members[static_cast<std::size_t>(core)]);
    auto& children = result.tree.children[static_cast<std::size_t>(renumbered(core))];
    for (const int child : tree.tree.children[static_cast<std::size_t>(core)]) {
      if (child != gone) {
        children.push_back(renumbered(child));
        continue;
      }
      for (const int orphan : tree.tree.children[static_cast<std::size_t>(gone)])
        children.push_back(renumbered(orphan));
    }
  }
  return result;
}

absl::Status check_ordered_tree(const OrderedTree& tree, int endpoints) {
  if (auto status = validate(tree.tree); !status.ok()) return status;
  if (tree.members.size() != tree.tree.children.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the tree has ", tree.tree.size(), " cores and the group ",
                                                   tree.members.size(), " members: give one to each"));
  }
  return TreeSeat::of(tree.tree, tree.members, tree.root(), endpoints).status();
}

Sequencer::Sequencer(GroupId group, EndpointId self, int endpoints, const OrderedTree& tree)
    : group_(group),
      self_(self),
      endpoints_(endpoints),
      tree_(tree),
      delivered_(static_cast<std::size_t>(endpoints)),
      joined_(static_cast<std::size_t>(endpoints), true),
      next_number_(static_cast<std::size_t>(endpoints)),
      unordered_(static_cast<std::size_t>(endpoints)) {
  INGOT_CHECK(check_ordered_tree(tree, endpoints).ok() && tree.root() == self);
  take_seat();
}

void Sequencer::take_seat() {
  children_.clear();
  for (const int child : tree_.tree.children[static_cast<std::size_t>(tree_.tree.root)]) {
    children_.push_back({tree_.members[static_cast<std::size_t>(child)], base_});
  }
}

void Sequencer::submit(EndpointId origin, std::uint64_t number, std::string_view payload, OrderedEffects& effects) {
  INGOT_CHECK(payload.size() <= kOrderedBytesMax);
  if (!tree_.has(origin) || number != next_number_[origin.value()] || unordered_[origin.value()] >= kSubmissionsMax) {
    ++dropped_;
    return;
  }
  ++next_number_[origin.value()];
  ++unordered_[origin.value()];
  submissions_.push_back({origin, number, std::string(payload)});
  order(effects);
}

// Orders submissions as far as the window allows.
void Sequencer::order(OrderedEffects& effects) {
  while (awaited_.empty() && !submissions_.empty() && kept_.size() < kOrderedWindow &&
         kept_bytes_ < kOrderedWindowBytes) {
    Submission submission = std::move(submissions_.front());
    submissions_.pop_front();
    --unordered_[submission.origin.value()];
    order_one(std::move(submission), effects);
    let_go();
  }
}

void Sequencer::order_one(Submission submission, OrderedEffects& effects) {
  OrderedMessage message;
  message.type = OrderedType::kOrdered;
  message.group = group_;
  message.epoch = epoch_;
  message.sequence = next_++;
  message.number = submission.number;
  message.endpoint = submission.origin;
  message.wants_taken = wants_taken(submission.payload.size());
  message.payload = submission.payload;
  const OrderedEntry entry{message.sequence, message.number, message.endpoint, message.wants_taken,
                           std::make_shared<const std::string>(encode(message))};
  for (const Child& child : children_) effects.messages.push_back({child.endpoint, entry.message});
  kept_.push_back(entry);
  kept_bytes_ += entry.message->size();
  effects.delivered.push_back(entry);
}

// In each quarter of the window the root asks for a report of one message: when has every member delivered it? So a
// full window always holds a message whose report will make room.
bool Sequencer::wants_taken(std::size_t bytes) {
  ++unwatched_messages_;
  unwatched_bytes_ += bytes + kOrderedHeaderBytes;
  if (unwatched_messages_ < kOrderedWindow / 4 && unwatched_bytes_ < kOrderedWindowBytes / 4) return false;
  unwatched_messages_ = unwatched_bytes_ = 0;
  return true;
}

void Sequencer::receive(EndpointId from, const OrderedMessage& message, OrderedEffects& effects) {
  const bool right = message.epoch == epoch_ && message.sequence <= next_ && tree_.has(from);
  if (right && message.type == OrderedType::kJoined) return receive_joined(from, message.sequence, effects);
  const auto child =
      std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.endpoint == from; });
  if (!right || message.type != OrderedType::kTaken || child == children_.end()) {
    ++dropped_;
    return;
  }
  child->taken = std::max(child->taken, message.sequence);
  let_go();
  order(effects);
}

void Sequencer::receive_joined(EndpointId from, std::uint64_t delivered, OrderedEffects& effects) {
  delivered_[from.value()] = std::max(delivered_[from.value()], delivered);
  if (!joined_[from.value()]) {
    joined_[from.value()] = true;
    catch_up(from, delivered, effects);
    std::erase(awaited_, from);
  }
  let_go();
  order(effects);
}

// Sends the member what it lacks of the messages ordered before this epoch.
void Sequencer::catch_up(EndpointId member, std::uint64_t from_sequence, OrderedEffects& effects) const {
  for (const OrderedEntry& entry : kept_) {
    if (entry.sequence >= from_sequence && entry.sequence < base_) effects.messages.push_back({member, entry.message});
  }
}

// Encodes the kept messages once, at the start of an epoch, to send them again to members that lack them.
void Sequencer::encode_catch_up() {
  for (OrderedEntry& entry : kept_) {
    OrderedMessage message;
    message.type = OrderedType::kCatchUp;
    message.group = group_;
    message.epoch = epoch_;
    message.sequence = entry.sequence;
    message.number = entry.number;
    message.endpoint = entry.origin;
    message.payload = entry.payload();
    entry.message = std::make_shared<const std::string>(encode(message));
  }
}

// Drops what every member has delivered. Until all have caught up with the epoch's start, the members' joins tell what
// that is; afterwards the tree's reports do.
void Sequencer::let_go() {
  std::uint64_t taken = next_;
  for (const EndpointId member : tree_.members) {
    if (member != self_ && delivered_[member.value()] < base_) taken = std::min(taken, delivered_[member.value()]);
  }
  for (const Child& child : children_) taken = std::min(taken, child.taken);
  for (; !kept_.empty() && kept_.front().sequence < taken; kept_.pop_front())
    kept_bytes_ -= kept_.front().message->size();
}

absl::Status Sequencer::change_tree(const OrderedTree& tree, OrderedEffects& effects) {
  if (auto status = check_ordered_tree(tree, endpoints_); !status.ok()) return status;
  if (tree.root() != self_) {
    return absl::InvalidArgumentError(absl::StrCat("the new tree's root is endpoint ", tree.root().value(),
                                                   ": it must stay endpoint ", self_.value(), ", who orders"));
  }
  for (const EndpointId member : tree.members) {
    if (tree_.has(member)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "endpoint ", member.value(), " is not a member any more: a new tree may leave members out, not add any"));
  }
  const std::vector<EndpointId> told = std::exchange(tree_, tree).members;
  ++epoch_;
  base_ = next_;
  take_seat();
  encode_catch_up();
  joined_.assign(joined_.size(), false);
  awaited_.clear();
  for (std::size_t i = 0; i < tree_.members.size(); ++i) {
    if (tree_.members[i] != self_ && !tree_.tree.children[i].empty()) awaited_.push_back(tree_.members[i]);
  }
  announce_epoch(told, effects);
  let_go();
  order(effects);
  return absl::OkStatus();
}

void Sequencer::announce_epoch(const std::vector<EndpointId>& members, OrderedEffects& effects) const {
  const std::string payload = encode_tree(tree_);
  OrderedMessage message;
  message.type = OrderedType::kNewEpoch;
  message.group = group_;
  message.epoch = epoch_;
  message.number = base_;
  message.payload = payload;
  const auto encoded = std::make_shared<const std::string>(encode(message));
  for (const EndpointId member : members) {
    if (member != self_) effects.messages.push_back({member, encoded});
  }
}

}  // namespace ingot::transport_collectives
