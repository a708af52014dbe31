#include "transport/collectives/progress_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/limits.h"

namespace ingot {
namespace {

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};  // a schedule without nodes: only its end
constexpr std::uint32_t kFarOperations = 1u << 22;    // sequences further apart cannot be compared

}  // namespace

ProgressEngine::ProgressEngine(Transport& transport, int endpoints, Handler other)
    : transport_(transport),
      endpoints_(endpoints),
      other_(std::move(other)),
      groups_(kGroupIdsMax),
      retired_(kGroupIdsMax),
      blocked_(static_cast<std::size_t>(endpoints)),
      gone_(static_cast<std::size_t>(endpoints)) {
  INGOT_CHECK(endpoints >= 1 && endpoints <= kChannelEndpointsMax && transport.self().value() < endpoints);
}

ProgressEngine::~ProgressEngine() {
  retired_.assign(kGroupIdsMax, true);  // so that no callback starts an operation
  for (const auto& group : groups_) {
    if (group != nullptr) retire(group->id);
  }
}

// The group's state, created if needed; null: retired, no such number, or too many groups.
EngineGroup* ProgressEngine::group_of(GroupId id) {
  if (id.value() >= kGroupIdsMax) return nullptr;
  auto& group = groups_[id.value()];
  if (group == nullptr && !retired_[id.value()] && groups_in_use_ < kGroupsMax) {
    group = std::make_unique<EngineGroup>(id, endpoints_);
    ++groups_in_use_;
  }
  return group.get();
}

absl::Status ProgressEngine::refusal(GroupId group, const Schedule& schedule) {
  if (group.value() >= kGroupIdsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("group ", group.value(), " does not exist: groups are numbered from 0 to ", kGroupIdsMax - 1));
  }
  if (schedule.self() != self() || schedule.endpoints_ > endpoints_) {
    return absl::InvalidArgumentError(absl::StrCat("the schedule is for endpoint ", schedule.self().value(), " of ",
                                                   schedule.endpoints_, ", not for endpoint ", self().value(), " of ",
                                                   endpoints_));
  }
  if (schedule.state() == Schedule::State::kRunning) {
    return absl::FailedPreconditionError("the schedule is running: start it again when it is done");
  }
  if (retired_[group.value()]) {
    return absl::FailedPreconditionError(absl::StrCat("group ", group.value(), " is retired: use another number"));
  }
  if (groups_[group.value()] == nullptr && groups_in_use_ >= kGroupsMax) {
    return absl::ResourceExhaustedError(absl::StrCat(kGroupsMax, " groups are in use: retire one first"));
  }
  return absl::OkStatus();
}

absl::Status ProgressEngine::start(GroupId id, Schedule& schedule) {
  if (auto status = refusal(id, schedule); !status.ok()) return status;
  if (any_gone_) {
    for (const auto& node : schedule.nodes_) {
      if (node.kind != Schedule::Kind::kCompute && gone_[node.peer.value()]) {
        return absl::FailedPreconditionError(absl::StrCat("endpoint ", node.peer.value(), " of the schedule is gone"));
      }
    }
  }
  EngineGroup& group = *group_of(id);
  if (group.running(group.next) != nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("an operation of group ", id.value(), " that is ",
                                                     kOperationsInFlightMax, " older is not finished"));
  }
  begin(group, schedule);
  run_ready();
  return absl::OkStatus();
}

void ProgressEngine::begin(EngineGroup& group, Schedule& schedule) {
  schedule.state_ = Schedule::State::kRunning;
  schedule.failure_.clear();
  schedule.engine_ = this;
  schedule.group_ = group.id;
  schedule.sequence_ = group.next;
  schedule.nodes_left_ = static_cast<std::uint32_t>(schedule.nodes_.size());
  for (auto& node : schedule.nodes_) node.blockers_left = node.blockers;
  group.place_of(group.next).running = &schedule;
  group.next = group.next.next();
  if (group.next.value() % kFarOperations == 0) group.keep_near(kFarOperations);
  announce(group, schedule);
  for (const std::uint32_t node : schedule.first_) ready_.push_back({&schedule, node});
  if (schedule.nodes_.empty()) ready_.push_back({&schedule, kNoNode});
  take_held(group, schedule);
}

void ProgressEngine::take_held(EngineGroup& group, Schedule& schedule) {
  auto& place = group.place_of(schedule.sequence_);
  std::uint32_t next = std::exchange(place.held_first, HeldMessages::kNone);
  place.held_last = HeldMessages::kNone;
  const OperationSequence sequence = schedule.sequence_;
  while (next != HeldMessages::kNone) {
    const std::uint32_t index = next;
    auto& message = held_[index];
    next = message.next;
    group.peers[message.from.value()].held_bytes -= message.payload.size() + kHeldOverheadBytes;
    // Only its own last message ends the operation, so it still runs unless a member breaks the rules.
    if (schedule.state_ == Schedule::State::kRunning && schedule.sequence_ == sequence) {
      std::vector<std::byte> payload = std::move(message.payload);  // further messages may be held meanwhile
      deliver(schedule, message.from, message.tag, payload);
      held_[index].payload = std::move(payload);
    } else {
      ++counters_.stray;
    }
    held_.free(index);
  }
}

bool ProgressEngine::receive(EndpointId from, std::span<const std::byte> message) {
  if (message.empty()) return false;
  const auto first = static_cast<ScheduleClass>(message.front());
  if (first != ScheduleClass::kData && first != ScheduleClass::kStarted) return false;
  const bool whole = message.size() >= kScheduleHeaderBytes && from.value() < static_cast<unsigned>(endpoints_);
  const ScheduleHeader header = whole ? ScheduleHeader::decode(message) : ScheduleHeader{};
  EngineGroup* group = whole ? group_of(header.group) : nullptr;
  if (group == nullptr) {
    ++counters_.stray;
  } else if (first == ScheduleClass::kStarted) {
    note_started(*group, from, header.sequence);
  } else {
    receive_data(*group, from, header, message.subspan(kScheduleHeaderBytes));
  }
  run_ready();
  return true;
}

void ProgressEngine::receive_data(EngineGroup& group, EndpointId from, const ScheduleHeader& header,
                                  std::span<const std::byte> payload) {
  ++counters_.received;
  note_started(group, from, header.sequence.next());
  if (header.sequence.after(group.next) >= 0) {
    hold(group, from, header, payload);
    return;
  }
  Schedule* schedule = group.running(header.sequence);
  if (schedule == nullptr || schedule->sequence_ != header.sequence) {
    ++counters_.stray;  // of an operation that has failed here
    return;
  }
  deliver(*schedule, from, header.tag, payload);
}

void ProgressEngine::hold(EngineGroup& group, EndpointId from, const ScheduleHeader& header,
                          std::span<const std::byte> payload) {
  auto& held_bytes = group.peers[from.value()].held_bytes;
  const std::size_t bytes = payload.size() + kHeldOverheadBytes;
  const bool in_window = header.sequence.after(group.next) < static_cast<std::int32_t>(kEagerOperations);
  if (!in_window || held_bytes + bytes > kEagerOperations * (kEagerBytes + kHeldOverheadBytes)) {
    ++counters_.stray;  // the sender ignored a window
    return;
  }
  held_bytes += bytes;
  ++counters_.held;
  const std::uint32_t index = held_.put(from, header.tag, payload);
  auto& place = group.place_of(header.sequence);
  if (place.held_first == HeldMessages::kNone) {
    place.held_first = index;
  } else {
    held_[place.held_last].next = index;
  }
  place.held_last = index;
}

void ProgressEngine::deliver(Schedule& schedule, EndpointId from, std::uint16_t tag,
                             std::span<const std::byte> payload) {
  const std::uint32_t key = Schedule::key_of(from, tag);
  const auto found = std::lower_bound(schedule.receives_.begin(), schedule.receives_.end(), key,
                                      [](const auto& receive, std::uint32_t k) { return receive.key < k; });
  const auto who = [&] {
    return absl::StrCat("endpoint ", from.value(), " sent ", payload.size(), " bytes with tag ", tag);
  };
  if (found == schedule.receives_.end() || found->key != key) {
    return fail(schedule, absl::StrCat(who(), ", which this endpoint's schedule does not expect"));
  }
  Schedule::Node& node = schedule.nodes_[found->node];
  if (node.blockers_left != 0) return fail(schedule, absl::StrCat(who(), " twice"));
  if (node.target.size() != payload.size()) {
    return fail(schedule, absl::StrCat(who(), ", where ", node.target.size(), " are expected"));
  }
  node.blockers_left = 1;  // it has its message
  if (!payload.empty()) std::memcpy(node.target.data(), payload.data(), payload.size());
  complete(schedule, node);
}

// Runs ready nodes, and those that become ready, up to kNodesPerRound; returns how many.
int ProgressEngine::run_ready() {
  if (running_ready_ || ready_.empty()) return 0;
  running_ready_ = true;
  int nodes = 0;
  for (; first_ready_ < ready_.size() && nodes < kNodesPerRound; ++nodes) {
    const NodeRef ref = ready_[first_ready_++];
    if (ref.schedule != nullptr) run(ref);
  }
  drop_front(ready_, first_ready_);
  running_ready_ = false;
  return nodes;
}

void ProgressEngine::run(NodeRef ref) {
  if (ref.node == kNoNode) return end(*ref.schedule, Schedule::State::kDone);
  const Schedule::Node& node = ref.schedule->nodes_[ref.node];
  if (node.kind == Schedule::Kind::kSend) return send(ref);
  node.computation.function(node.computation.context, node.target, node.source);
  complete(*ref.schedule, node);
}

int ProgressEngine::advance() {
  buried_.clear();
  const int sent = blocked_peers_.empty() ? 0 : retry_blocked();
  return sent + run_ready();
}

int ProgressEngine::progress(std::uint64_t now_ns) {
  const int work = advance();
  retry_.plan(now_ns, !blocked_peers_.empty(), work > 0);
  return work;
}

int ProgressEngine::poll(std::uint64_t now_ns) {
  int work = transport_.probe(
      [this](EndpointId from, std::span<const std::byte> message) {
        if (receive(from, message)) return;
        if (other_) return other_(from, message);
        ++counters_.stray;
      },
      kProbeMessagesMax);
  work += advance();
  const bool fragments_wait = transport_.flush();
  if (transport_.parts_moved()) ++work;
  retry_.plan(now_ns, fragments_wait || !blocked_peers_.empty(), work > 0);
  return work;
}

bool ProgressEngine::readable() { return first_ready_ < ready_.size() || transport_.readable(); }

void ProgressEngine::complete(Schedule& schedule, const Schedule::Node& node) {
  for (std::uint32_t i = node.successors_begin; i < node.successors_end; ++i) {
    const std::uint32_t next = schedule.successors_[i];
    if (--schedule.nodes_[next].blockers_left == 0) ready_.push_back({&schedule, next});
  }
  if (--schedule.nodes_left_ == 0) end(schedule, Schedule::State::kDone);
}

void ProgressEngine::end(Schedule& schedule, Schedule::State state) {
  groups_[schedule.group_.value()]->place_of(schedule.sequence_).running = nullptr;
  schedule.state_ = state;
  if (state == Schedule::State::kDone) ++counters_.operations;
  if (schedule.on_end_) schedule.on_end_(schedule);
}

void ProgressEngine::fail(Schedule& schedule, std::string why) {
  forget(schedule);
  schedule.failure_ = std::move(why);
  end(schedule, Schedule::State::kFailed);
}

// Takes the schedule's nodes out of every queue. Places of ready_ stay, since run_ready may be iterating over them.
void ProgressEngine::forget(const Schedule& schedule) {
  for (auto& ref : ready_) {
    if (ref.schedule == &schedule) ref.schedule = nullptr;
  }
  std::erase_if(groups_[schedule.group_.value()]->too_soon,
                [&](const NodeRef& ref) { return ref.schedule == &schedule; });
  for (const EndpointId peer : blocked_peers_) {
    auto& entries = blocked_[peer.value()].entries;
    // These entries become announcements that this endpoint has started more operations, without a schedule.
    for (auto& entry : entries) {
      if (entry.schedule == &schedule) entry.schedule = nullptr;
    }
  }
}

void ProgressEngine::cancel(Schedule& schedule) {
  if (schedule.state() == Schedule::State::kRunning) fail(schedule, "it was cancelled");
}

void ProgressEngine::retire(GroupId id) {
  if (id.value() >= kGroupIdsMax) return;
  retired_[id.value()] = true;
  EngineGroup* group = groups_[id.value()].get();
  if (group == nullptr) return;
  for (auto& place : group->places) {
    if (place.running != nullptr) fail(*place.running, absl::StrCat("group ", id.value(), " was retired"));
    for (std::uint32_t i = place.held_first; i != HeldMessages::kNone;) {
      const std::uint32_t next = held_[i].next;
      held_.free(i);
      i = next;
    }
  }
  buried_.push_back(std::move(groups_[id.value()]));
  --groups_in_use_;
}

void ProgressEngine::endpoint_gone(EndpointId endpoint) {
  if (endpoint.value() >= gone_.size()) return;
  gone_[endpoint.value()] = any_gone_ = true;
  const auto exchanges = [&](const Schedule& schedule) {
    return std::any_of(schedule.nodes_.begin(), schedule.nodes_.end(), [&](const Schedule::Node& node) {
      return node.kind != Schedule::Kind::kCompute && node.peer == endpoint;
    });
  };
  for (const auto& group : groups_) {
    if (group == nullptr) continue;
    for (auto& place : group->places) {
      if (place.running != nullptr && exchanges(*place.running)) {
        fail(*place.running, absl::StrCat("endpoint ", endpoint.value(), " is gone"));
      }
    }
  }
  blocked_[endpoint.value()] = {};
  std::erase(blocked_peers_, endpoint);
}

}  // namespace ingot
