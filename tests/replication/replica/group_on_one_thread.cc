#include "tests/replication/replica/group_on_one_thread.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/enum_names.h"
#include "core/limits.h"
#include "replication/agreement/registry.h"
#include "replication/pages/page_access.h"
#include "replication/stable/limits.h"
#include "replication/store/codec.h"
#include "transport/host/host_transport.h"

namespace ingot {

namespace {

template <typename T>
T value_or_die(absl::StatusOr<T> result) {
  INGOT_CHECK(result.ok());
  return std::move(*result);
}

constexpr std::uint64_t kStartNs = 1'000'000'000'000;  // of the virtual clock: the same in every run
constexpr int kSettledRounds = 200;
constexpr int kRoundsMax = 2'000'000;

std::vector<std::span<std::byte>> inboxes_of(const Fabric& fabric) {
  std::vector<std::span<std::byte>> inboxes;
  for (int i = 0; i < fabric.endpoints(); ++i)
    inboxes.push_back(fabric.inbox(EndpointId(static_cast<std::uint16_t>(i))));
  return inboxes;
}

}  // namespace

GroupOnOneThread::GroupOnOneThread(const std::string& agreement, const std::string& transport, int replicas,
                                   std::uint64_t seed, std::optional<EndpointId> responder, const std::string& tree)
    : agreement_(agreement), transport_(transport), tree_(tree), prng_(seed), now_ns_(kStartNs) {
  fabric_.emplace(value_or_die(
      Fabric::create("test", replicas + 1, inbox_bytes(*value_of<TransportKind>(transport), replicas + 1))));
  members_.resize(static_cast<std::size_t>(replicas));
  for (int id = 0; id < replicas; ++id) make_launch();
  for (int id = 0; id < replicas; ++id) add_member(id);
  const EndpointId self(static_cast<std::uint16_t>(replicas));
  client_fabric_ = attach();
  client_transport_ =
      make_transport(*value_of<TransportKind>(transport), inboxes_of(*client_fabric_), self, *client_fabric_, {});
  client_incarnations_ = std::make_unique<PeerIncarnations>(*client_fabric_, *client_transport_, incarnations());
  SessionClient::Options options;
  options.replicas = replicas;
  options.session = prng_();
  options.acceptor = responder.value_or(EndpointId(replicas > 1 && agreement == "1paxos" ? 1 : 0));
  options.nearest = EndpointId(static_cast<std::uint16_t>(replicas - 1));
  options.daemon = &daemon_;
  options.pages = pages_;
  options.incarnations = client_incarnations_.get();
  options.now_ns = [this] { return now_ns_; };
  client_ = std::make_unique<SessionClient>(*client_transport_, std::move(options));
}

GroupOnOneThread::~GroupOnOneThread() = default;

// Each endpoint has its own mappings, as processes have: a new incarnation's inbox is visible only to peers that switch
// to it.
Fabric GroupOnOneThread::attach() const {
  std::vector<int> copies;
  for (const int fd : fabric_->descriptors()) copies.push_back(::dup(fd));
  return value_or_die(Fabric::attach(copies));
}

std::vector<Incarnation> GroupOnOneThread::incarnations() const {
  std::vector<Incarnation> all;
  for (const Launch& launch : launches_) all.push_back(launch.incarnations.back().incarnation);
  all.emplace_back(1);  // the client
  return all;
}

void GroupOnOneThread::make_launch() {
  Launch& launch = launches_.emplace_back();
  Descriptor fd = value_or_die(create_segment("test-page", sizeof(ReplicaPage)));
  launch.page_segment = value_or_die(Segment::map(fd.get(), Segment::Access::kReadWrite));
  launch.page = launch.page_segment.as<ReplicaPage>();
  pages_.push_back(launch.page);
  begin_stable(launch, Incarnation(1));
  daemon_.replicas[launches_.size() - 1].state.set(static_cast<std::uint64_t>(ProcessState::kUp));
  daemon_.replicas[launches_.size() - 1].incarnation.set(1);
}

void GroupOnOneThread::begin_stable(Launch& launch, Incarnation incarnation) {
  launch.stable.push_back(value_or_die(create_segment("test-stable", kStableSegmentBytes)));
  launch.incarnations.push_back({incarnation, std::make_shared<const Segment>(value_or_die(
                                           Segment::map(launch.stable.back().get(), Segment::Access::kReadOnly)))});
}

TreeOptions GroupOnOneThread::tree_options(int voters) const {
  TreeOptions trees;
  trees.plan.replicas = replicas();
  trees.plan.voters = voters;
  trees.plan.shape = tree_;
  trees.initial = plan_trees(trees.plan, {});
  trees.state_of = [this](int replica) {
    const bool stopped = reported_ && !members_[replica]->running;
    return stopped ? ReplicaSample::State::kStopped : ReplicaSample::State::kRunning;
  };
  return trees;
}

void GroupOnOneThread::add_member(int id) {
  members_[id] = std::make_unique<Member>();
  Member& member = *members_[id];
  Launch& launch = launches_[id];
  const EndpointId self(static_cast<std::uint16_t>(id));
  const Incarnation incarnation = launch.incarnations.back().incarnation;
  member.fabric = attach();
  member.stable = value_or_die(StableSegment::open(launch.stable.back().get(), self, incarnation));
  member.transport =
      make_transport(*value_of<TransportKind>(transport_), inboxes_of(*member.fabric), self, *member.fabric, {});
  member.incarnations = std::make_unique<PeerIncarnations>(*member.fabric, *member.transport, incarnations());
  Replica::Parts parts;
  parts.protocol.group.replicas = replicas();
  parts.protocol.group.voters = std::min(replicas(), kVotersDefault);
  parts.protocol.group.self = self;
  parts.protocol.group.incarnation = incarnation;
  if (launch.incarnations.size() > 1) {
    parts.protocol.group.predecessor = std::make_shared<const StableView>(
        value_or_die(StableView::read(launch.incarnations[launch.incarnations.size() - 2].memory->bytes())));
  }
  parts.channels.endpoints = replicas() + 1;
  parts.channels.transport = member.transport.get();
  parts.protocol.agreement = make_agreement(agreement_, parts.protocol.group);
  member.agreement = parts.protocol.agreement.get();
  parts.state = &member.store;
  parts.stable = member.stable.get();
  parts.pages.own = launch.page;
  parts.pages.all = pages_;
  for (const Launch& each : launches_) parts.deaths.segments.push_back(each.incarnations);
  parts.channels.incarnations = member.incarnations.get();
  parts.deaths.reported = &daemon_.deaths;
  parts.deaths.stops = &daemon_;
  parts.trees = tree_options(parts.protocol.group.voters);
  member.replica = std::make_unique<Replica>(std::move(parts));
  launch.page->incarnation.set_release(incarnation.value());
}

void GroupOnOneThread::kill(int replica, bool told) {
  Member& member = *members_[replica];
  member.running = false;
  member.replica.reset();
  member.stable.reset();  // releases the writer's lock
  member.incarnations.reset();
  member.transport.reset();
  member.words.clear();
  if (!told) return;
  daemon_.replicas[replica].state.set(static_cast<std::uint64_t>(ProcessState::kDead));
  daemon_.deaths.set_release(daemon_.deaths.get() + 1);
}

void GroupOnOneThread::report_stop(int replica) {
  set_running(replica, false);
  note_doubt(daemon_, static_cast<std::size_t>(replica), incarnation(replica));
}

void GroupOnOneThread::report_continued(int replica) {
  set_running(replica, true);
  note_doubt(daemon_, static_cast<std::size_t>(replica), 0);
}

void GroupOnOneThread::restart(int replica) {
  INGOT_CHECK(!alive(replica), "only the dead begin another incarnation");
  const EndpointId endpoint(static_cast<std::uint16_t>(replica));
  Launch& launch = launches_[replica];
  const Incarnation next(incarnation(replica) + 1);
  begin_stable(launch, next);
  const int inbox = value_or_die(fabric_->renew_inbox(endpoint));
  for (auto& member : members_) {
    if (member->replica == nullptr) continue;
    member->words.push_back({endpoint, next, ::dup(inbox), launch.incarnations.back().memory});
  }
  client_->begin_incarnation({endpoint, next, value_or_die(client_fabric_->map_inbox(inbox))});
  add_member(replica);
  daemon_.replicas[replica].state.set(static_cast<std::uint64_t>(ProcessState::kUp));
  daemon_.replicas[replica].incarnation.set_release(next.value());
}

void GroupOnOneThread::receive(Member& member) {
  for (Word& word : std::exchange(member.words, {})) {
    const Descriptor inbox(word.inbox);
    member.replica->begin_incarnation(
        {word.endpoint, word.incarnation, value_or_die(member.fabric->map_inbox(inbox.get()))}, std::move(word.stable));
  }
}

kv::Result GroupOnOneThread::Answer::result() const {
  INGOT_CHECK(arrived && outcome == ReplicaReply::Outcome::kOk);
  return value_or_die(kv::decode_result(payload));
}

std::shared_ptr<GroupOnOneThread::Answer> GroupOnOneThread::submit(RequestKind kind, const kv::Request& request,
                                                                   EndpointId replica) {
  auto answer = std::make_shared<Answer>();
  client_->submit(
      kind, kv::encode(request),
      [answer](const ReplicaReply& reply) {
        INGOT_CHECK(!answer->arrived, "an answer arrives once");
        answer->arrived = true;
        answer->outcome = reply.outcome;
        answer->payload = std::string(reply.payload);
      },
      replica);
  return answer;
}

void GroupOnOneThread::submit_bytes(const std::string& command) {
  client_->submit(RequestKind::kCommand, command, [](const ReplicaReply&) {}, ReplicaClient::kAnyReplica);
}

void GroupOnOneThread::round(std::uint64_t step_ns) {
  now_ns_ += step_ns;
  std::vector<int> order(members_.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[prng_.below(i)]);
  last_work_ = 0;
  for (const int who : order) {
    if (who == replicas()) {
      last_work_ += client_->poll(now_ns_);
    } else if (members_[who]->running) {
      receive(*members_[who]);
      last_work_ += members_[who]->replica->poll(now_ns_);
    }
  }
}

void GroupOnOneThread::settle() {
  int quiet = 0;
  for (int rounds = 0; quiet < kSettledRounds; ++rounds) {
    INGOT_CHECK(rounds < kRoundsMax, "the group does not come to rest");
    round();
    quiet = last_work_ == 0 && client_->in_flight() == 0 ? quiet + 1 : 0;
  }
  // Then the slower timers, which fetch and repeat.
  for (int i = 0; i < 1000; ++i) round(5'000'000);
}

kv::Result GroupOnOneThread::put(const std::string& key, const std::string& value) {
  kv::PutRequest put;
  put.key = key;
  put.value = value;
  const auto answer = submit(RequestKind::kCommand, put);
  settle();
  return answer->result();
}

kv::Result GroupOnOneThread::get(const std::string& key) {
  kv::RangeRequest range;
  range.key = key;
  const auto answer = submit(RequestKind::kLinearizableQuery, range);
  settle();
  return answer->result();
}

}  // namespace ingot
