#include "transport/collectives/atomic_broadcast.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/wire.h"
#include "transport/limits.h"

namespace ingot::inline transport_collectives {

absl::StatusOr<std::unique_ptr<AtomicBroadcast>> AtomicBroadcast::create(Transport& transport, int endpoints,
                                                                         Options options) {
  if (auto status = check_ordered_tree(options.tree, endpoints); !status.ok()) return status;
  if (!options.tree.has(transport.self())) {
    return absl::InvalidArgumentError(
        absl::StrCat("endpoint ", transport.self().value(), " is not a member of the group"));
  }
  if (!options.deliver) return absl::InvalidArgumentError("an atomic broadcast needs a function to deliver to");
  if (!options.planner) options.planner = tree_without;
  return std::unique_ptr<AtomicBroadcast>(new AtomicBroadcast(transport, endpoints, std::move(options)));
}

AtomicBroadcast::AtomicBroadcast(Transport& transport, int endpoints, Options options)
    : transport_(transport),
      endpoints_(endpoints),
      group_(options.group),
      root_(options.tree.root()),
      deliver_(std::move(options.deliver)),
      planner_(std::move(options.planner)),
      queues_(static_cast<std::size_t>(endpoints)),
      gone_(static_cast<std::size_t>(endpoints)) {
  if (transport.self() == root_) {
    sequencer_.emplace(group_, root_, endpoints, options.tree);
  } else {
    member_.emplace(group_, transport.self(), endpoints, options.tree);
  }
}

absl::StatusOr<std::uint64_t> AtomicBroadcast::submit(std::span<const std::byte> payload) {
  if (payload.size() > kOrderedBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a message of ", payload.size(), " bytes is too long: at most ",
                                                   kOrderedBytesMax, " are allowed"));
  }
  if (excluded()) return absl::FailedPreconditionError("this member has been excluded from the group");
  if (gone_[root_.value()]) {
    return absl::FailedPreconditionError(absl::StrCat("endpoint ", root_.value(), ", who orders, is dead"));
  }
  if (underway_.size() >= kSubmissionsMax || underway_bytes_ + payload.size() > kSubmissionBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(underway_.size(), " messages of this member have not come back"));
  }
  const std::uint64_t number = next_number_++;
  underway_.push_back(payload.size());
  underway_bytes_ += payload.size();
  if (is_root()) {
    sequencer_->submit(root_, number, as_view(payload), effects_);
    execute();
  } else {
    tell_root(OrderedType::kSubmit, number, transport_.self(), as_view(payload));
  }
  return number;
}

void AtomicBroadcast::tell_root(OrderedType type, std::uint64_t number, EndpointId endpoint, std::string_view payload) {
  OrderedMessage message;
  message.type = type;
  message.group = group_;
  message.epoch = epoch();
  message.number = number;
  message.endpoint = endpoint;
  message.payload = payload;
  send(root_, std::make_shared<const std::string>(encode(message)));
}

absl::Status AtomicBroadcast::change_tree(const OrderedTree& tree) {
  if (!is_root()) {
    return absl::FailedPreconditionError(absl::StrCat("only the root, endpoint ", root_.value(), ", changes the tree"));
  }
  if (auto status = sequencer_->change_tree(tree, effects_); !status.ok()) return status;
  execute();
  return absl::OkStatus();
}

void AtomicBroadcast::endpoint_gone(EndpointId endpoint) {
  if (endpoint.value() >= gone_.size() || gone_[endpoint.value()] || endpoint == transport_.self()) return;
  gone_[endpoint.value()] = true;
  queues_[endpoint.value()].clear();
  std::erase(queued_, endpoint);
  if (is_root()) {
    pass_by(endpoint);
  } else if (endpoint != root_ && !excluded()) {
    tell_root(OrderedType::kDead, 0, endpoint, {});
  }
}

void AtomicBroadcast::pass_by(EndpointId dead) {
  if (!sequencer_->tree().has(dead)) return;
  const OrderedTree planned = planner_(sequencer_->tree(), dead);
  const OrderedTree simple = tree_without(sequencer_->tree(), dead);
  const bool right = planned.members.size() == simple.members.size() && !planned.has(dead) &&
                     sequencer_->change_tree(planned, effects_).ok();
  if (!right) INGOT_CHECK(sequencer_->change_tree(simple, effects_).ok());
  execute();
}

bool AtomicBroadcast::receive(EndpointId from, std::span<const std::byte> bytes) {
  if (bytes.size() < kOrderedHeaderBytes || static_cast<std::uint8_t>(bytes.front()) != kOrderedClass) return false;
  const auto message = decode_ordered(as_view(bytes));
  if (message && message->group != group_) return false;
  if (!message) {
    ++dropped_;
  } else {
    handle(from, *message);
    execute();
  }
  return true;
}

void AtomicBroadcast::handle(EndpointId from, const OrderedMessage& message) {
  if (!is_root()) return member_->receive(from, message, effects_);
  switch (message.type) {
    case OrderedType::kSubmit:
      if (message.endpoint != from) break;
      return sequencer_->submit(from, message.number, message.payload, effects_);
    case OrderedType::kDead:
      return receive_dead(from, message.endpoint);
    default:
      return sequencer_->receive(from, message, effects_);
  }
  ++dropped_;
}

// The report is certain: the kernel has marked the dead writer's lock.
void AtomicBroadcast::receive_dead(EndpointId from, EndpointId endpoint) {
  const bool right = sequencer_->tree().has(from) && endpoint.value() < gone_.size() && endpoint != root_;
  if (right) return endpoint_gone(endpoint);
  ++dropped_;
}

// A delivery may submit and so cause new effects: they are executed after the present ones.
void AtomicBroadcast::execute() {
  if (is_executing_) return;
  is_executing_ = true;
  while (!effects_.empty()) {
    std::swap(executing_, effects_);
    for (auto& outgoing : executing_.messages) send(outgoing.to, std::move(outgoing.message));
    for (const OrderedEntry& entry : executing_.delivered) deliver(entry);
    executing_.messages.clear();
    executing_.delivered.clear();
  }
  is_executing_ = false;
}

void AtomicBroadcast::deliver(const OrderedEntry& entry) {
  if (entry.origin == transport_.self() && !underway_.empty()) {
    underway_bytes_ -= underway_.front();
    underway_.pop_front();
  }
  deliver_({entry.sequence, entry.origin, entry.number, as_bytes(entry.payload())});
}

void AtomicBroadcast::send(EndpointId to, std::shared_ptr<const std::string> message) {
  if (gone_[to.value()]) return;
  Queue& queue = queues_[to.value()];
  if (queue.empty()) {
    if (transport_.send(to, as_bytes(*message))) return;
    queued_.push_back(to);
  }
  queue.push_back(std::move(message));
}

int AtomicBroadcast::send_queued() {
  int sent = 0;
  for (std::size_t i = 0; i < queued_.size();) {
    Queue& queue = queues_[queued_[i].value()];
    for (; !queue.empty() && transport_.send(queued_[i], as_bytes(*queue.front())); ++sent) queue.pop_front();
    if (!queue.empty()) {
      ++i;
      continue;
    }
    queued_[i] = queued_.back();
    queued_.pop_back();
  }
  return sent;
}

int AtomicBroadcast::progress(std::uint64_t now_ns) {
  const int sent = send_queued();
  retry_.plan(now_ns, !queued_.empty(), sent > 0);
  return sent;
}

int AtomicBroadcast::poll(std::uint64_t now_ns) {
  int work = transport_.probe(
      [this](EndpointId from, std::span<const std::byte> message) {
        if (!receive(from, message)) ++dropped_;
      },
      kProbeMessagesMax);
  work += send_queued();
  const bool fragments_wait = transport_.flush();
  if (transport_.parts_moved()) ++work;
  retry_.plan(now_ns, fragments_wait || !queued_.empty(), work > 0);
  return work;
}

}  // namespace ingot::transport_collectives
