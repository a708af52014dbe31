// What the processes of an instance are told, above all one that does not read for a while.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "replication/stable/segment.h"
#include "services/handover/handover_state.h"
#include "services/instance/instance.h"
#include "services/launch/pidfd.h"
#include "services/supervision/child.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

constexpr int kReplicas = 2;

std::unique_ptr<Instance> make_instance() {
  DaemonConfig config;
  config.replicas = kReplicas;
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  config.name = absl::StrCat("tell-test-", ::getpid());
  config.socket = "";
  auto instance = Instance::create(config);
  REQUIRE(instance.ok());
  return *std::move(instance);
}

// The replica's present incarnation inherits, votes for the slots below `accepted_end`, and dies.
void live_and_die(const Instance& instance, int replica, std::uint64_t accepted_end) {
  const LaunchSpec spec = instance.launch_spec();
  const ReplicaLaunch& launch = spec.replicas[static_cast<std::size_t>(replica)];
  auto segment = StableSegment::open(launch.stable_fd, EndpointId(static_cast<std::uint16_t>(replica)),
                                     Incarnation(launch.incarnation));
  REQUIRE(segment.ok());
  const auto text = std::make_shared<const std::string>("stored");
  using Kind = StableWrite::Kind;
  REQUIRE((*segment)->store({Kind::kConfiguration, Epoch(), Ballot(), Slot(), text}));
  if (accepted_end == 0) return;
  REQUIRE((*segment)->store({Kind::kAccepted, Epoch(1), Ballot(1), Slot(accepted_end - 1), text}));
}

void publish(Instance& instance, std::uint64_t slot) {
  auto snapshot = create_segment("snapshot", 1);
  REQUIRE(snapshot.ok());
  if (instance.hold_snapshot(Slot(slot), *std::move(snapshot))) instance.publish_snapshot();
}

std::vector<std::uint32_t> kept(const LaunchSpec& spec, int replica) {
  std::vector<std::uint32_t> kept;
  for (const EarlierIncarnation& each : spec.replicas[static_cast<std::size_t>(replica)].earlier) {
    kept.push_back(each.incarnation);
    CHECK(each.stable_fd >= 0);
  }
  return kept;
}

// One process: its end of the channel, and the state that it would hand over.
class Process {
 public:
  Process(boost::asio::io_context& io, const Instance& instance)
      : known_(*HandoverState::copy(instance.launch_spec())) {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    const int least = 1;  // the kernel's minimum: room for a few messages
    REQUIRE(::setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof least) == 0);
    channel_ = SupervisionChannel(Descriptor(fds[1]));
    child = std::make_shared<Child>(io, ChildRole::replica(0), ::getpid(), Descriptor(::pidfd_open(::getpid(), 0)),
                                    SupervisionChannel(Descriptor(fds[0])), 1, instance.all_told());
  }
  // Reads what has come. Returns the number of messages.
  int read() {
    int messages = 0;
    for (auto got = channel_.receive(); got.outcome == SupervisionChannel::Received::Outcome::kMessage;
         got = channel_.receive()) {
      ++messages;
      if (got.message.has_incarnation())
        REQUIRE(known_.begin_incarnation(got.message.incarnation(), got.fds).ok());
      else if (got.message.has_kept())
        REQUIRE(known_.keep_incarnations(got.message.kept()));
      else if (got.message.has_snapshot())
        known_.keep_snapshot(got.message.snapshot(), std::move(got.fds[0]));
    }
    return messages;
  }
  const LaunchSpec& spec() const { return known_.spec(); }

  std::shared_ptr<Child> child;

 private:
  SupervisionChannel channel_;
  HandoverState known_;
};

void require_equal(const LaunchSpec& process, const LaunchSpec& instance) {
  for (int id = 0; id < kReplicas; ++id) {
    CHECK(process.replicas[static_cast<std::size_t>(id)].incarnation ==
          instance.replicas[static_cast<std::size_t>(id)].incarnation);
    CHECK(kept(process, id) == kept(instance, id));
  }
  CHECK(process.front_end_incarnation == instance.front_end_incarnation);
  CHECK(process.publisher_incarnation == instance.publisher_incarnation);
  CHECK(process.snapshot_slot == instance.snapshot_slot);
}

}  // namespace

// Regression: of what a stopped process was told only the newest four incarnations of each endpoint waited for it; when
// it went on, it lacked segments that the group may need, and a new supervisor may ask this process.
TEST_CASE("a process that does not read while ten incarnations come and go has all that is kept when it reads again") {
  boost::asio::io_context io;
  const auto instance = make_instance();
  Process process(io, *instance);
  for (std::uint32_t i = 1; i <= 30; ++i) {
    live_and_die(*instance, 1, 10 * i);
    REQUIRE(instance->begin_incarnation(1).ok());
    process.child->tell(*instance);
  }
  CHECK(kept(instance->launch_spec(), 1).size() == 30);
  while (process.read() > 0) io.poll();
  CHECK(process.spec().replicas[1].incarnation == 31);
  require_equal(process.spec(), instance->launch_spec());
}

TEST_CASE("whenever a process reads, it comes to know what its instance keeps, and no more") {
  Prng prng(testing::drawn_seed());
  for (int turn = 0; turn < 20; ++turn) {
    boost::asio::io_context io;
    const auto instance = make_instance();
    Process process(io, *instance);
    std::uint64_t slot = 0;
    for (int step = 0; step < 40; ++step) {
      const int replica = static_cast<int>(prng.below(kReplicas));
      const std::uint64_t dice = prng.below(10);
      if (dice < 5) {
        if (prng.chance(0.7)) live_and_die(*instance, replica, prng.chance(0.6) ? slot += 10 : 0);
        REQUIRE(instance->begin_incarnation(replica).ok());
        if (prng.chance(0.5)) instance->release_segments();
      } else if (dice < 6) {
        REQUIRE(instance->begin_incarnation(kReplicas).ok());
      } else if (dice < 8) {
        publish(*instance, slot > 0 ? prng.below(slot) + 1 : 1);
      } else {
        process.read();
      }
      process.child->tell(*instance);
      io.poll();
      io.restart();
    }
    do {
      io.restart();
      io.poll();
    } while (process.read() > 0);
    require_equal(process.spec(), instance->launch_spec());
  }
}

TEST_CASE("writes wait while more is kept than may be, and a published snapshot ends that") {
  DaemonConfig config;
  config.replicas = kReplicas;
  config.listen = "127.0.0.1:0";
  config.metrics_listen = "";
  config.kept_segments_mib = 1;
  config.socket = "";
  auto instance = Instance::create(config);
  REQUIRE(instance.ok());
  const DaemonPage& page = (*instance)->page();
  const auto state = [&] { return static_cast<KeptSegments>(page.kept_segments_state.get()); };
  int incarnations = 0;
  CHECK(state() == KeptSegments::kFew);
  for (; state() != KeptSegments::kFull; ++incarnations) {
    REQUIRE(incarnations < 300);
    live_and_die(**instance, 0, 7);
    REQUIRE((*instance)->begin_incarnation(0).ok());
    (*instance)->release_segments();
  }
  CHECK(page.kept_segments_bytes.get() > 1024 * 1024);
  CHECK(page.kept_segments.get() == static_cast<std::uint64_t>(incarnations - 1));  // not the predecessor's
  publish(**instance, 6);
  CHECK(state() == KeptSegments::kFull);
  publish(**instance, 7);
  CHECK(state() == KeptSegments::kFew);
  CHECK(page.kept_segments_bytes.get() == 0);
}

}  // namespace ingot
