#include "transport/collectives/progress_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/limits.h"

namespace ingot::inline transport_collectives {
namespace {

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};  // a schedule without nodes: only its end
constexpr std::uint32_t kFarOperations = 1u << 22;    // sequences further apart cannot be compared

}  // namespace

ProgressEngine::ProgressEngine(Transport& transport, int endpoints, Handler other, OneCopy one_copy)
    : transport_(transport),
      endpoints_(endpoints),
      other_(std::move(other)),
      one_copy_(one_copy),
      groups_(kGroupIdsMax),
      retired_(kGroupIdsMax),
      blocked_(static_cast<std::size_t>(endpoints)),
      gone_(static_cast<std::size_t>(endpoints)),
      refuses_(static_cast<std::size_t>(endpoints)) {
  INGOT_CHECK(endpoints >= 1 && endpoints <= kChannelEndpointsMax && transport.self().value() < endpoints);
  INGOT_CHECK(one_copy.bytes_min >= 1);
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
  if (one_copy_.by != nullptr) schedule.mark_eager_offers(one_copy_.bytes_min);
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
  schedule.offers_left_ = 0;
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
    std::vector<std::byte> payload = std::move(message.payload);  // further messages may be held meanwhile
    const ScheduleHeader header{message.offer ? ScheduleClass::kOffer : ScheduleClass::kData, group.id, message.tag,
                                sequence};
    // Only its own last message ends the operation, so it still runs unless a member breaks the rules.
    if (schedule.state_ == Schedule::State::kRunning && schedule.sequence_ == sequence) {
      deliver(schedule, message.from, header, payload);
    } else {
      drop(message.from, header);
    }
    held_[index].payload = std::move(payload);
    held_.free(index);
  }
}

bool ProgressEngine::receive(EndpointId from, std::span<const std::byte> message) {
  if (message.empty()) return false;
  if (!is_schedule_class(message.front())) return false;
  const bool whole = message.size() >= kScheduleHeaderBytes && from.value() < static_cast<unsigned>(endpoints_);
  const ScheduleHeader header = whole ? ScheduleHeader::decode(message) : ScheduleHeader{};
  EngineGroup* group = whole ? group_of(header.group) : nullptr;
  if (group == nullptr) {
    drop(from, header);
  } else if (header.message_class == ScheduleClass::kStarted) {
    note_started(*group, from, header.sequence);
  } else if (header.message_class == ScheduleClass::kData || header.message_class == ScheduleClass::kOffer) {
    receive_data(*group, from, header, message.subspan(kScheduleHeaderBytes));
  } else {
    receive_answer(*group, from, header);
  }
  run_ready();
  return true;
}

void ProgressEngine::receive_data(EngineGroup& group, EndpointId from, const ScheduleHeader& header,
                                  std::span<const std::byte> payload) {
  if (header.message_class == ScheduleClass::kOffer && payload.size() != sizeof(PayloadOffer)) {
    ++counters_.stray;
    return;
  }
  ++counters_.received;
  note_started(group, from, header.sequence.next());
  if (header.sequence.after(group.next) >= 0) {
    hold(group, from, header, payload);
    return;
  }
  Schedule* schedule = group.running(header.sequence);
  if (schedule == nullptr || schedule->sequence_ != header.sequence) return drop(from, header);
  deliver(*schedule, from, header, payload);
}

// Of an operation that has failed here, or of no group. An offer is answered, since its sender waits.
void ProgressEngine::drop(EndpointId from, ScheduleHeader header) {
  ++counters_.stray;
  if (header.message_class == ScheduleClass::kOffer) answer(from, header, ScheduleClass::kTaken);
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
  const std::uint32_t index =
      held_.put(from, header.tag, header.message_class == ScheduleClass::kOffer, payload);
  auto& place = group.place_of(header.sequence);
  if (place.held_first == HeldMessages::kNone) {
    place.held_first = index;
  } else {
    held_[place.held_last].next = index;
  }
  place.held_last = index;
}

void ProgressEngine::deliver(Schedule& schedule, EndpointId from, const ScheduleHeader& header,
                             std::span<const std::byte> payload) {
  if (header.message_class == ScheduleClass::kOffer) return deliver_offer(schedule, from, header, payload);
  Schedule::Node* node = expected(schedule, from, header.tag, payload.size());
  if (node == nullptr) return;
  node->blockers_left = 1;  // it has its message
  if (!payload.empty()) std::memcpy(node->target.data(), payload.data(), payload.size());
  complete(schedule, *node);
}

// The receive of that message. If there is none, the run fails, and the result is null.
Schedule::Node* ProgressEngine::expected(Schedule& schedule, EndpointId from, std::uint16_t tag, std::size_t bytes) {
  Schedule::Node* node = Schedule::find(schedule.nodes_, schedule.receives_, from, tag);
  const auto fails = [&](std::string why) {
    fail(schedule, absl::StrCat("endpoint ", from.value(), " sent ", bytes, " bytes with tag ", tag, why));
    return nullptr;
  };
  if (node == nullptr) return fails(", which this endpoint's schedule does not expect");
  if (node->blockers_left != 0) return fails(" twice");
  if (node->target.size() != bytes) return fails(absl::StrCat(", where ", node->target.size(), " are expected"));
  return node;
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
  Schedule::Node& node = ref.schedule->nodes_[ref.node];
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

}  // namespace ingot::transport_collectives
