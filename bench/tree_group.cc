#include "bench/tree_group.h"

#include <future>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "core/check.h"
#include "core/enum_names.h"
#include "core/limits.h"
#include "core/planning/cost_model_derive.h"
#include "core/planning/topology.h"
#include "core/wire.h"
#include "replication/agreement/registry.h"
#include "replication/replica/limits.h"
#include "replication/replica/replica.h"
#include "replication/replica/trees/limits.h"
#include "replication/requests/request.h"
#include "replication/stable/limits.h"
#include "replication/stable/segment.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "services/replica_process/shared_core_wait.h"
#include "transport/host/host_transport.h"
#include "transport/limits.h"

namespace ingot::bench {

namespace {

template <typename T>
T value_or_die(absl::StatusOr<T> result) {
  INGOT_CHECK(result.ok());
  return std::move(*result);
}

constexpr std::uint64_t kSession = 1;

}  // namespace

// Sends to replica 0, which leads; the replica that first knows a decision answers.
class TreeGroup::Client : public Pollable {
 public:
  Client(std::unique_ptr<Transport> transport, int replicas, EndpointId responder, std::string put)
      : transport_(std::move(transport)), replicas_(replicas), responder_(responder), put_(std::move(put)) {}

  int poll(std::uint64_t) override {
    int work = transport_->probe([this](EndpointId, std::span<const std::byte> bytes) { receive(as_view(bytes)); },
                                 kProbeMessagesMax);
    const int wanted = wanted_.load(std::memory_order_acquire);
    for (; in_flight_.load(std::memory_order_relaxed) < wanted && send(); ++work) {
    }
    transport_->flush();
    return work;
  }
  bool readable() override {
    return transport_->readable() ||
           in_flight_.load(std::memory_order_relaxed) < wanted_.load(std::memory_order_acquire);
  }
  std::uint64_t deadline_ns() const override { return kNever; }

  std::atomic<int> wanted_{0};
  std::atomic<int> in_flight_{0};
  std::atomic<std::uint64_t> answered_{0};

 private:
  bool send() {
    Request request;
    request.client = kSession;
    request.sequence = next_;
    request.acknowledged_below = next_ > kSessionWindow / 2 ? next_ - kSessionWindow / 2 : 0;
    request.reply_to = EndpointId(static_cast<std::uint16_t>(replicas_));
    request.responder = responder_;
    request.payload = put_;
    if (!transport_->send(EndpointId(0), as_bytes(encode(request)))) return false;
    ++next_;
    in_flight_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void receive(std::string_view bytes) {
    const auto response = decode_response(bytes);
    INGOT_CHECK(response && response->status == Response::Status::kOk, "the group takes every put");
    answered_.fetch_add(1, std::memory_order_relaxed);
    in_flight_.fetch_sub(1, std::memory_order_release);
  }

  std::unique_ptr<Transport> transport_;
  const int replicas_;
  const EndpointId responder_;
  const std::string put_;
  std::uint64_t next_ = 1;
};

struct TreeGroup::Member {
  std::unique_ptr<StableSegment> stable;
  kv::KvStore store;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Replica> replica;
};

TreeGroup::TreeGroup(const TreeGroupOptions& options) : options_(options) {
  const int replicas = options_.replicas;
  plan_.replicas = replicas;
  plan_.voters = std::min(replicas, kVotersDefault);
  plan_.shape = options_.tree;
  if (options_.cores.size() > 1) {
    const CostModel machine = derive_machine(value_or_die(this_machine()), "this machine", Threads::kOnePerCore);
    plan_.machine = value_or_die(restrict_to(machine, options_.cores));
    for (int id = 0; id < replicas; ++id) plan_.core.push_back(id % static_cast<int>(options_.cores.size()));
  }
  TreeConditions conditions;
  conditions.evaluations = kInitialEvaluations;
  initial_ = plan_trees(plan_, conditions);
  const int endpoints = replicas + 1;
  fabric_ = std::make_unique<Fabric>(value_or_die(
      Fabric::create("bench", endpoints, inbox_bytes(*value_of<TransportKind>(options_.transport), endpoints))));
  for (int i = 0; i < endpoints; ++i) inboxes_.push_back(fabric_->inbox(EndpointId(static_cast<std::uint16_t>(i))));
  for (int id = 0; id < replicas; ++id) pages_.push_back(std::make_unique<ReplicaPage>());

  std::map<int, std::vector<int>> by_loop;
  const auto core_count = static_cast<int>(options_.cores.size());
  for (int id = 0; id < replicas; ++id) by_loop[options_.loop_each ? id : id % core_count].push_back(id);
  for (const auto& [loop, ids] : by_loop) run_loop(ids, options_.cores[ids.front() % core_count]);

  kv::PutRequest put;
  put.key = "key";
  put.value = std::string(static_cast<std::size_t>(options_.value_bytes), 'v');
  const EndpointId self(static_cast<std::uint16_t>(replicas));
  const EndpointId responder(options_.agreement == "1paxos" ? 1 : 0);
  client_ = std::make_unique<Client>(
      make_transport(*value_of<TransportKind>(options_.transport), inboxes_, self, *fabric_, {}), replicas, responder,
      kv::encode(kv::Request(put)));
  loops_.push_back(value_or_die(EventLoop::create(WaitOptions::shared_core())));
  loops_.back()->add(*client_, *fabric_, self);
  threads_.emplace_back([loop = loops_.back().get(), core = options_.cores.back()] {
    bind_this_thread({core}).IgnoreError();
    loop->run();
  });
}

TreeGroup::~TreeGroup() {
  for (auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<TreeGroup::Member> TreeGroup::make_member(int id) {
  auto member = std::make_unique<Member>();
  const EndpointId self(static_cast<std::uint16_t>(id));
  const Descriptor fd = value_or_die(create_segment("bench-stable", kStableSegmentBytes));
  member->stable = value_or_die(StableSegment::open(fd.get(), self, Incarnation(1)));
  member->transport = make_transport(*value_of<TransportKind>(options_.transport), inboxes_, self, *fabric_, {});
  Replica::Parts parts;
  parts.protocol.group.replicas = options_.replicas;
  parts.protocol.group.voters = plan_.voters;
  parts.protocol.group.self = self;
  parts.channels.endpoints = options_.replicas + 1;
  parts.channels.transport = member->transport.get();
  parts.protocol.agreement = make_agreement(options_.agreement, parts.protocol.group);
  parts.state = &member->store;
  parts.stable = member->stable.get();
  parts.pages.own = pages_[id].get();
  for (const auto& page : pages_) parts.pages.all.push_back(page.get());
  parts.bounds.pipeline_slots = kPipelineSlotsSharedCore;
  parts.trees = TreeOptions{plan_, initial_, nullptr};
  member->replica = std::make_unique<Replica>(std::move(parts));
  return member;
}

// A stable segment belongs to one thread for life, so each loop creates its members on its own thread.
void TreeGroup::run_loop(const std::vector<int>& ids, CoreId core) {
  const auto core_count = static_cast<int>(options_.cores.size());
  const int sharing = options_.loop_each ? (options_.replicas + core_count - 1) / core_count : 1;
  loops_.push_back(value_or_die(EventLoop::create(shared_core_wait(sharing))));
  std::promise<void> made;
  auto ready = made.get_future();
  threads_.emplace_back([this, loop = loops_.back().get(), ids, core, &made] {
    bind_this_thread({core}).IgnoreError();
    std::vector<std::unique_ptr<Member>> members;
    for (const int id : ids) {
      members.push_back(make_member(id));
      loop->add(*members.back()->replica, *fabric_, EndpointId(static_cast<std::uint16_t>(id)));
    }
    made.set_value();
    loop->run();
  });
  ready.wait();
}

void TreeGroup::keep_in_flight(int puts) {
  client_->wanted_.store(puts, std::memory_order_release);
  fabric_->notify(EndpointId(static_cast<std::uint16_t>(options_.replicas)));
  while (puts == 0 && (client_->in_flight_.load(std::memory_order_acquire) > 0 || !settled())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TreeGroupTotals TreeGroup::totals() const {
  TreeGroupTotals totals;
  totals.answered = client_->answered_.load(std::memory_order_relaxed);
  totals.commits = (*pages_[0])[ReplicaCounter::kAppliedSlots].get();
  for (const auto& page : pages_) totals.handled.push_back((*page)[ReplicaCounter::kHandledMessages].get());
  return totals;
}

bool TreeGroup::settled() const {
  for (const auto& page : pages_) {
    if ((*page)[ReplicaCounter::kAppliedSlots].get_acquire() != (*pages_[0])[ReplicaCounter::kAppliedSlots].get()) {
      return false;
    }
  }
  return true;
}

bool TreeGroup::digests_agree() const {
  for (const auto& page : pages_) {
    if ((*page)[ReplicaCounter::kDigest].get() != (*pages_[0])[ReplicaCounter::kDigest].get()) return false;
  }
  return true;
}

}  // namespace ingot::bench
