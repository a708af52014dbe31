#include "transport/collectives/schedule.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/collectives/progress_engine.h"
#include "transport/direct_copy.h"
#include "transport/limits.h"

namespace ingot::inline transport_collectives {

Schedule::Schedule(Schedule&& other) noexcept { *this = std::move(other); }

Schedule& Schedule::operator=(Schedule&& other) noexcept {
  INGOT_CHECK(state_ != State::kRunning && other.state_ != State::kRunning, "a schedule that runs stays where it is");
  self_ = other.self_;
  state_ = other.state_;
  endpoints_ = other.endpoints_;
  nodes_ = std::move(other.nodes_);
  successors_ = std::move(other.successors_);
  first_ = std::move(other.first_);
  receives_ = std::move(other.receives_);
  sends_ = std::move(other.sends_);
  sources_ = std::move(other.sources_);
  buffers_ = std::move(other.buffers_);
  offered_bytes_ = other.offered_bytes_;
  on_end_ = std::move(other.on_end_);
  failure_ = std::move(other.failure_);
  return *this;
}

// As mark_eager, where payloads of `offered_bytes` and more are offered: an offer is short.
void Schedule::mark_eager_offers(std::size_t offered_bytes) {
  if (offered_bytes_ == offered_bytes) return;
  offered_bytes_ = offered_bytes;
  std::vector<std::size_t> held(static_cast<std::size_t>(endpoints_));
  for (Node& node : nodes_) {
    if (node.kind != Kind::kSend) continue;
    std::size_t& total = held[node.peer.value()];
    total += (node.source.size() >= offered_bytes ? sizeof(PayloadOffer) : node.source.size()) + kHeldOverheadBytes;
    node.eager_offer = total <= kEagerBytes + kHeldOverheadBytes;
  }
}

Schedule::~Schedule() {
  on_end_ = nullptr;
  if (state_ == State::kRunning) engine_->cancel(*this);
}

ScheduleBuilder::ScheduleBuilder(EndpointId self, int endpoints) {
  schedule_.self_ = self;
  schedule_.endpoints_ = endpoints;
}

ScheduleBuilder::NodeId ScheduleBuilder::add(Node node) {
  if (schedule_.nodes_.size() <= kScheduleNodesMax) schedule_.nodes_.push_back(node);  // one too many for build to see
  return {static_cast<std::uint32_t>(schedule_.nodes_.size() - 1)};
}

ScheduleBuilder::NodeId ScheduleBuilder::send(EndpointId to, std::uint16_t tag, std::span<const std::byte> source) {
  Node node;
  node.kind = Kind::kSend;
  node.peer = to;
  node.tag = tag;
  node.source = source;
  return add(node);
}

ScheduleBuilder::NodeId ScheduleBuilder::receive(EndpointId from, std::uint16_t tag, std::span<std::byte> target) {
  Node node;
  node.kind = Kind::kReceive;
  node.peer = from;
  node.tag = tag;
  node.target = target;
  return add(node);
}

ScheduleBuilder::NodeId ScheduleBuilder::compute(Computation computation, std::span<std::byte> target,
                                                 std::span<const std::byte> source) {
  Node node;
  node.kind = Kind::kCompute;
  node.target = target;
  node.source = source;
  node.computation = computation;
  return add(node);
}

void ScheduleBuilder::connect(NodeId before, NodeId after) { edges_.emplace_back(before.value, after.value); }

std::span<std::byte> ScheduleBuilder::buffer(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(::operator new[](std::max<std::size_t>(bytes, 1), std::align_val_t{64}));
  std::memset(memory, 0, bytes);
  schedule_.buffers_.emplace_back(memory);
  return {memory, bytes};
}

absl::StatusOr<Schedule> ScheduleBuilder::build() {
  if (auto status = check_nodes(); !status.ok()) return status;
  if (auto status = link(); !status.ok()) return status;
  if (auto status = check_acyclic(); !status.ok()) return status;
  index_messages();
  for (std::size_t i = 1; i < schedule_.receives_.size(); ++i) {
    if (schedule_.receives_[i - 1].key == schedule_.receives_[i].key) {
      const Node& node = schedule_.nodes_[schedule_.receives_[i].node];
      return absl::InvalidArgumentError(absl::StrCat("two receives from endpoint ", node.peer.value(),
                                                     " have the same tag ", node.tag, ": give each its own"));
    }
  }
  mark_eager();
  return std::move(schedule_);
}

absl::Status ScheduleBuilder::check_nodes() const {
  if (schedule_.endpoints_ < 1 || schedule_.endpoints_ > kChannelEndpointsMax) {
    return absl::InvalidArgumentError(absl::StrCat("a fabric of ", schedule_.endpoints_,
                                                   " endpoints does not exist: 1 to ", kChannelEndpointsMax,
                                                   " are allowed"));
  }
  if (schedule_.self_.value() >= schedule_.endpoints_) {
    return absl::InvalidArgumentError(absl::StrCat("endpoint ", schedule_.self_.value(),
                                                   " cannot have a schedule: the fabric has ", schedule_.endpoints_,
                                                   " endpoints, numbered from 0"));
  }
  if (schedule_.nodes_.size() > kScheduleNodesMax) {
    return absl::InvalidArgumentError(absl::StrCat("the schedule has more than ", kScheduleNodesMax, " nodes"));
  }
  std::vector<std::uint32_t> sends;
  for (std::size_t i = 0; i < schedule_.nodes_.size(); ++i) {
    if (auto status = check_node(i); !status.ok()) return status;
    const Node& node = schedule_.nodes_[i];
    if (node.kind == Kind::kSend) sends.push_back(Schedule::key_of(node.peer, node.tag));
  }
  std::sort(sends.begin(), sends.end());
  if (const auto twin = std::adjacent_find(sends.begin(), sends.end()); twin != sends.end()) {
    return absl::InvalidArgumentError(absl::StrCat("two sends to endpoint ", *twin >> 16, " have the same tag ",
                                                   *twin & 0xffff, ": give each its own"));
  }
  return absl::OkStatus();
}

absl::Status ScheduleBuilder::check_node(std::size_t index) const {
  const Node& node = schedule_.nodes_[index];
  if (node.kind == Kind::kCompute) {
    if (node.computation.function == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("computation ", index, " of the schedule has no function"));
    }
    if (node.target.size() == node.source.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("computation ", index, " of the schedule has a target of ",
                                                   node.target.size(), " bytes and a source of ", node.source.size(),
                                                   ": they must be equal"));
  }
  const bool sends = node.kind == Kind::kSend;
  const char* what = sends ? "a send to endpoint " : "a receive from endpoint ";
  if (node.peer.value() >= schedule_.endpoints_) {
    return absl::InvalidArgumentError(absl::StrCat(what, node.peer.value(), " is impossible: the fabric has ",
                                                   schedule_.endpoints_, " endpoints, numbered from 0"));
  }
  if (node.peer == schedule_.self_) {
    return absl::InvalidArgumentError(absl::StrCat(what, node.peer.value(), " is one to itself: use a computation"));
  }
  const std::size_t bytes = sends ? node.source.size() : node.target.size();
  if (bytes <= kScheduleMessageBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, node.peer.value(), " has ", bytes, " bytes: at most ",
                                                 kScheduleMessageBytesMax, " are allowed, so cut it into several"));
}

// Turns edges into lists of successors.
absl::Status ScheduleBuilder::link() {
  auto& nodes = schedule_.nodes_;
  for (const auto& [before, after] : edges_) {
    if (before >= nodes.size() || after >= nodes.size()) {
      return absl::InvalidArgumentError(absl::StrCat("an edge names node ", std::max(before, after),
                                                     ", but the schedule has ", nodes.size(), " nodes"));
    }
    if (nodes[after].kind == Kind::kReceive) {
      return absl::InvalidArgumentError(absl::StrCat("the receive from endpoint ", nodes[after].peer.value(),
                                                     " comes after another node: receives are ready from the start"));
    }
    ++nodes[after].blockers;
    ++nodes[before].successors_end;  // its count, for now
  }
  std::uint32_t place = 0;
  for (Node& node : nodes) {
    const std::uint32_t count = node.successors_end;
    node.successors_begin = node.successors_end = place;
    place += count;
  }
  schedule_.successors_.resize(place);
  for (const auto& [before, after] : edges_) schedule_.successors_[nodes[before].successors_end++] = after;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].blockers == 0 && nodes[i].kind != Kind::kReceive) schedule_.first_.push_back(i);
  }
  return absl::OkStatus();
}

// Removes nodes without predecessors until none is left, or only a cycle.
absl::Status ScheduleBuilder::check_acyclic() const {
  const auto& nodes = schedule_.nodes_;
  std::vector<std::uint32_t> blockers, open;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    blockers.push_back(nodes[i].blockers);
    if (nodes[i].blockers == 0) open.push_back(i);
  }
  std::size_t taken = 0;
  for (; !open.empty(); ++taken) {
    const Node& node = nodes[open.back()];
    open.pop_back();
    for (std::uint32_t i = node.successors_begin; i < node.successors_end; ++i) {
      if (--blockers[schedule_.successors_[i]] == 0) open.push_back(schedule_.successors_[i]);
    }
  }
  if (taken == nodes.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the schedule has a cycle: ", nodes.size() - taken, " of its nodes wait for one another"));
}

void ScheduleBuilder::index_messages() {
  std::map<EndpointId, std::size_t> bytes;
  for (std::uint32_t i = 0; i < schedule_.nodes_.size(); ++i) {
    const Node& node = schedule_.nodes_[i];
    if (node.kind == Kind::kSend) schedule_.sends_.push_back({Schedule::key_of(node.peer, node.tag), i});
    if (node.kind != Kind::kReceive) continue;
    schedule_.receives_.push_back({Schedule::key_of(node.peer, node.tag), i});
    bytes[node.peer] += node.target.size() + kHeldOverheadBytes;
  }
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  std::sort(schedule_.receives_.begin(), schedule_.receives_.end(), by_key);
  std::sort(schedule_.sends_.begin(), schedule_.sends_.end(), by_key);
  for (const auto& [peer, total] : bytes) {
    schedule_.sources_.push_back({peer, total > kEagerBytes + kHeldOverheadBytes});
  }
}

// The receiver may hold the first kEagerBytes from each sender. Both ends count alike, so the receiver knows whether a
// sender waits for it to start.
void ScheduleBuilder::mark_eager() {
  std::map<EndpointId, std::size_t> bytes;
  for (Node& node : schedule_.nodes_) {
    if (node.kind != Kind::kSend) continue;
    std::size_t& total = bytes[node.peer];
    total += node.source.size() + kHeldOverheadBytes;
    node.eager = total <= kEagerBytes + kHeldOverheadBytes;
  }
}

}  // namespace ingot::transport_collectives
