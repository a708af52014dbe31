#include "tests/replication/replica/mortal_group.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "core/wire.h"
#include "replication/agreement/limits.h"
#include "replication/agreement/registry.h"
#include "replication/stable/layout.h"
#include "replication/store/codec.h"

namespace ingot {

namespace {

template <typename T>
T value_or_die(absl::StatusOr<T> result) {
  INGOT_CHECK(result.ok());
  return std::move(*result);
}

constexpr std::uint64_t kStartNs = 1'000'000'000'000;  // of the virtual clock: the same in every run
constexpr int kRoundsWithChild = 20;

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Waits until a child has ended; the code that forked it reaps it.
void wait_for_child() {
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

}  // namespace

MortalGroup::MortalGroup(Options options)
    : options_(std::move(options)), rng_(options_.seed), now_ns_(kStartNs) {
  const std::size_t carries = 2 * (kConfigurationEntryBytes + options_.bounds.in_flight_bytes);
  const std::size_t entries = (kLeaderChangesKept + 8) * kConfigurationEntryBytes;
  INGOT_CHECK(carries + entries <= stable_configuration_cell_bytes(options_.segment_bytes),
              "a replica's segment takes the largest configuration that the bounds allow");
  segments_.resize(static_cast<std::size_t>(options_.replicas));
  stable_fds_.resize(segments_.size());
  for (int id = 0; id < options_.replicas; ++id) {
    const Descriptor fd = value_or_die(create_segment("test-page", sizeof(ReplicaPage)));
    page_segments_.push_back(value_or_die(Segment::map(fd.get(), Segment::Access::kReadWrite)));
    pages_.push_back(page_segments_.back().as<ReplicaPage>());
  }
  start_all();
}

MortalGroup::~MortalGroup() { hold_load(-1); }

void MortalGroup::hold_load(int replica) {
  held_ = replica;
  held_.notify_all();
}

void MortalGroup::kill_all() {
  hold_load(-1);
  collect();
  client_.reset();
  client_transport_.reset();
  for (auto& member : members_) {
    member->replica.reset();
    member->stable.reset();  // releases the writer's lock
  }
  members_.clear();
  outstanding_.clear();
  not_kept_.reset();
}

void MortalGroup::start_all(int deprived, std::string_view other) {
  ++incarnation_;
  inboxes_.clear();
  const int endpoints = options_.replicas + 1;
  fabric_.emplace(value_or_die(Fabric::create("test", endpoints, inbox_bytes(TransportKind::kNvp, endpoints))));
  for (int i = 0; i < endpoints; ++i) inboxes_.push_back(fabric_->inbox(EndpointId(static_cast<std::uint16_t>(i))));
  for (int id = 0; id < options_.replicas; ++id) {
    stable_fds_[id] = value_or_die(create_segment("test-stable", options_.segment_bytes));
    auto memory = std::make_shared<const Segment>(
        value_or_die(Segment::map(stable_fds_[id].get(), Segment::Access::kReadOnly)));
    add_incarnation(segments_[id],
                    IncarnationSegment{Incarnation(static_cast<std::uint32_t>(incarnation_)), std::move(memory)},
                    [](const IncarnationSegment& segment) {
                      return incarnation_counts(segment.memory->bytes(), segment.incarnation);
                    });
    members_.push_back(std::make_unique<Member>(id, held_));
  }
  release_segments(std::span(segments_),
                   traits_of(options_.agreement).votes_are_history ? published() : Slot(kSlotsMax),
                   [](const IncarnationSegment& each) { return StableView::extent_in(each.memory->bytes()); });
  for (int id = 0; id < options_.replicas; ++id) {
    const SnapshotBytes kept{snapshot_ ? as_view(snapshot_->bytes()) : std::string_view(), snapshot_};
    start(id, id == deprived ? SnapshotBytes{other} : kept);
  }
  const EndpointId self(static_cast<std::uint16_t>(options_.replicas));
  client_transport_ = make_transport(TransportKind::kNvp, inboxes_, self, *fabric_, {});
  SessionClient::Options client;
  client.replicas = options_.replicas;
  client.session = rng_();
  client.incarnation = Incarnation(static_cast<std::uint32_t>(incarnation_));
  client.acceptor = EndpointId(1);
  client.nearest = EndpointId(static_cast<std::uint16_t>(options_.replicas - 1));
  client.daemon = &daemon_;
  client.now_ns = [this] { return now_ns_; };
  client_ = std::make_unique<SessionClient>(*client_transport_, std::move(client));
}

// The newest dead incarnation with valid votes, as replication/agreement/agreement.h requires.
std::shared_ptr<const StableView> MortalGroup::predecessor(int id) const {
  for (auto segment = segments_[id].rbegin(); segment != segments_[id].rend(); ++segment) {
    if (segment->incarnation == Incarnation(static_cast<std::uint32_t>(incarnation_))) continue;
    auto view = StableView::read(segment->memory->bytes());
    if (view.ok() && view->may_be_inherited()) return std::make_shared<const StableView>(*std::move(view));
  }
  return nullptr;
}

void MortalGroup::start(int id, SnapshotBytes snapshot) {
  Member& member = *members_[id];
  const EndpointId self(static_cast<std::uint16_t>(id));
  const Incarnation incarnation(static_cast<std::uint32_t>(incarnation_));
  member.transport = make_transport(TransportKind::kNvp, inboxes_, self, *fabric_, {});
  Replica::Parts parts;
  parts.protocol.group.replicas = options_.replicas;
  parts.protocol.group.voters = std::min(options_.replicas, kVotersDefault);
  parts.protocol.group.self = self;
  parts.protocol.group.incarnation = incarnation;
  parts.protocol.group.bounds = options_.bounds;
  parts.protocol.group.predecessor = predecessor(id);
  member.stable = value_or_die(StableSegment::open(stable_fds_[id].get(), self, incarnation, options_.segment_bytes));
  parts.channels.endpoints = options_.replicas + 1;
  parts.channels.transport = member.transport.get();
  parts.protocol.agreement = make_agreement(options_.agreement, parts.protocol.group);
  member.agreement = parts.protocol.agreement.get();
  parts.state = &member.store;
  parts.stable = member.stable.get();
  parts.pages.own = page_segments_[id].as<ReplicaPage>();
  parts.pages.all = pages_;
  parts.deaths.segments = segments_;
  parts.deaths.reported = &daemon_.deaths;
  parts.snapshots.fork = options_.fork;
  parts.snapshots.load_in_background = options_.load_in_background;
  if (options_.keeps) {
    parts.snapshots.published_slot = &daemon_.published_slot;
    parts.snapshots.publish = [this](Slot slot, int fd) { hand_over(slot, fd); };
    parts.snapshots.first = std::move(snapshot);
  }
  member.replica = std::make_unique<Replica>(std::move(parts));
}

void MortalGroup::hand_over(Slot slot, int fd) {
  Descriptor copy(::dup(fd));
  INGOT_CHECK(copy.valid());
  if (keeping_) keep(slot, std::move(copy));
  else not_kept_.emplace(slot, std::move(copy));
}

void MortalGroup::keep(Slot slot, Descriptor fd) {
  if (slot <= published()) return;
  snapshot_ = std::make_shared<const Segment>(value_or_die(Segment::map(fd.get(), Segment::Access::kReadOnly)));
  INGOT_CHECK(read_snapshot(as_view(snapshot_->bytes()))->name.slot == slot, "what is published is a snapshot");
  daemon_.published_slot.set_release(slot.value());
}

void MortalGroup::set_keeping(bool keeping) {
  keeping_ = keeping;
  if (!keeping_ || !not_kept_) return;
  keep(not_kept_->first, std::move(not_kept_->second));
  not_kept_.reset();
}

void MortalGroup::put(std::size_t value_bytes) {
  auto put = std::make_shared<Put>();
  put->key = "key-" + std::to_string(puts_++);
  put->value = std::string(value_bytes, static_cast<char>('a' + rng_.below(26)));
  kv::PutRequest request;
  request.key = put->key;
  request.value = put->value;
  outstanding_.push_back(put);
  client_->submit(
      RequestKind::kCommand, kv::encode(kv::Request(request)),
      [put](const ReplicaReply& reply) {
        put->arrived = true;
        put->ok = reply.outcome == ReplicaReply::Outcome::kOk;
      },
      ReplicaClient::kAnyReplica);
}

int MortalGroup::outstanding() const {
  return static_cast<int>(
      std::count_if(outstanding_.begin(), outstanding_.end(), [](const auto& put) { return !put->arrived; }));
}

void MortalGroup::collect() {
  std::erase_if(outstanding_, [this](const auto& put) {
    if (put->ok) acknowledged_[put->key] = put->value;
    return put->arrived;
  });
}

// A forked child writes its snapshot in real time, and the group's clock is virtual: the clock stands still once a
// child has lived for some rounds. Otherwise the amount stored meanwhile would depend on the machine's load.
void MortalGroup::give_child_its_time() {
  if (!options_.fork || !has_children()) {
    rounds_with_child_ = 0;
  } else if (++rounds_with_child_ >= kRoundsWithChild) {
    wait_for_child();
  }
}

// A loader thread, too, takes real time; this thread yields to it.
void MortalGroup::give_load_its_time() const {
  for (int id = 0; id < options_.replicas; ++id) {
    if (id != held_ && loading(id)) return static_cast<void>(::usleep(1000));
  }
}

void MortalGroup::round(std::uint64_t step_ns) {
  now_ns_ += step_ns;
  give_child_its_time();
  give_load_its_time();
  std::vector<int> order(members_.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
  for (const int who : order) {
    if (who == options_.replicas) client_->poll(now_ns_);
    else if (members_[who]->running) members_[who]->replica->poll(now_ns_);
  }
}

void MortalGroup::wait(int rounds_max) {
  for (int rounds = 0; outstanding() > 0; ++rounds) {
    INGOT_CHECK(rounds < rounds_max, "the group does not answer");
    round();
  }
  collect();
}

bool MortalGroup::equal() const {
  return std::all_of(members_.begin(), members_.end(), [this](const auto& member) {
    return member->replica->applier().applied() == members_.front()->replica->applier().applied();
  });
}

void MortalGroup::settle(int rounds_max) {
  for (int i = 0; i < 2000 || outstanding() > 0 || !equal(); ++i) {
    INGOT_CHECK(i < rounds_max, "not all catch up");
    round(i < 2000 ? 100'000 : 1'000'000);
  }
  collect();
}

void MortalGroup::wait_published() {
  constexpr int kRoundsMax = 400'000;
  for (int i = 0; published() == Slot(0); ++i) {
    INGOT_CHECK(i < kRoundsMax, "no snapshot is kept");
    round(1'000'000);
  }
}

int MortalGroup::lost_by(int replica) const {
  int lost = 0;
  for (const auto& [key, value] : acknowledged_) {
    kv::RangeRequest range;
    range.key = key;
    const auto result = kv::decode_result(members_[replica]->store.query(kv::encode(kv::Request(range))));
    INGOT_CHECK(result.ok());
    const auto& found = std::get<kv::RangeResult>(result->body).kvs;
    if (found.size() != 1 || found[0].value != value) ++lost;
  }
  return lost;
}

}  // namespace ingot
