// Maintenance.Snapshot on a loop: what it waits for, what it sends, how many at a time, and who loses its place.
#include "services/etcd/snapshot_calls.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/check.h"
#include "proto/etcd/rpc.pb.h"
#include "replication/pages/instance_view.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/requests/request.h"
#include "replication/requests/snapshot_wish.h"
#include "replication/store/codec.h"
#include "services/access/caller.h"
#include "services/backup/limits.h"
#include "services/backup/load.h"
#include "services/rpc/wire/framing.h"
#include "tests/services/rpc/server/harness.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;

// Answers every command as a group does that has applied it as the slot before `slot`.
class Group final : public ReplicaClient {
 public:
  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId) override {
    INGOT_CHECK(kind == RequestKind::kCommand && is_snapshot_wish(payload), "a call asks for nothing else");
    ReplicaReply reply;
    reply.outcome = outcome;
    reply.slot = slot;
    ++wishes;
    callback(reply);
  }

  ReplicaReply::Outcome outcome = ReplicaReply::Outcome::kOk;
  Slot slot{1};
  int wishes = 0;
};

// A replica's state with some large values, published.
struct Published {
  explicit Published(int keys) {
    for (int i = 0; i < keys; ++i) {
      kv::PutRequest put;
      put.key = std::to_string(i);
      put.value = std::string(100'000, 'v');
      const std::string payload = kv::encode(kv::Request(put));
      Request request;
      request.sequence = static_cast<std::uint64_t>(i);
      request.acknowledged_below = request.sequence;
      request.payload = payload;
      std::string batch;
      append_command(batch, request);
      applier.apply(applier.applied(), batch, [](const Applier::Applied&) {});
    }
    REQUIRE(store.live_keys() == keys);
    REQUIRE(write_snapshot_file(fd.get(), Slot(1), [&](StateMachine::Sink sink) { applier.save(sink); }));
  }

  kv::KvStore store;
  Applier applier{store};
  Descriptor fd{::memfd_create("snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
};

constexpr const char* kPath = "/etcdserverpb.Maintenance/Snapshot";
constexpr std::uint64_t kNsPerMs = 1'000'000;

Caller by_tcp(const std::string& address) { return {Caller::Door::kTcp, address, std::nullopt}; }

Caller by_unix(uid_t user, pid_t process) {
  return {Caller::Door::kUnix, "unix:pid=" + std::to_string(process) + ",uid=" + std::to_string(user),
          Caller::Credentials{user, user, process}};
}

struct Serving : rpc::Harness {
  Serving() {
    view.daemon = &daemon;
    view.loss = &loss;
    calls.add_to(methods);
  }
  ~Serving() { server().end(); }

  // Rounds of the loop, in which the time of the checks goes on as it does.
  template <typename... Clients>
  void turn(Clients&... clients) {
    calls.poll(monotonic_ns() + passed_ns);
    run(clients...);
  }

  Group group;
  DaemonConfig config;
  DaemonPage daemon;
  SupervisorLoss loss;
  InstanceView view;
  RequestMetrics metrics;
  NewestSnapshot newest{{}};
  etcd::SnapshotPlaces places{{.newest = &newest}};
  etcd::SnapshotCalls calls{group, config, view, metrics, places};
  std::uint64_t passed_ns = 0;  // that the checks believe to have passed besides
};

// A client on a connection of its own, with one call. It reads from its begin on, or when it is told to.
struct Taker {
  enum class Reads { kAtOnce, kLater };
  Taker(Serving& serving, const Caller& caller = by_tcp("10.0.0.1:1"), Reads reads = Reads::kAtOnce)
      : serving(serving), client(serving.client(caller)), id(client->call(kPath, rpc::framed(""))) {
    client->read_nothing(reads == Reads::kLater);
    serving.turn(*client);
  }

  void finish() {
    while (!answer().ended && !answer().closed && !client->lost()) {
      serving.turn(*client);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // The whole file.
  std::string read() {
    finish();
    std::string file;
    std::string_view bytes = answer().body;
    rpc::MessageReader reader(bytes.size());
    while (reader.read(bytes) == rpc::MessageReader::Result::kMessage) {
      pb::SnapshotResponse part;
      REQUIRE(part.ParseFromArray(reader.message().data(), static_cast<int>(reader.message().size())));
      file += part.blob();
      left = part.remaining_bytes();
    }
    return file;
  }
  rpc::Answer& answer() { return client->answer(id); }
  int status() {
    finish();
    return answer().status();
  }
  std::string why() { return answer().message(); }

  Serving& serving;
  std::unique_ptr<rpc::RawClient> client;
  std::int32_t id;
  std::uint64_t left = 1;
};

TEST_CASE("a call waits for a snapshot that holds all that was decided before it, and sends that one") {
  const Published before(1), after(30);
  Serving serving;
  serving.group.slot = Slot(7);
  serving.newest.offer(Slot(6), before.fd.get());
  Taker taker(serving);
  serving.passed_ns += 10 * kBackupLookMs * kNsPerMs;
  serving.turn(*taker.client);
  CHECK(taker.answer().body.empty());
  serving.newest.offer(Slot(7), after.fd.get());
  const std::string file = taker.read();
  CHECK(taker.status() == grpc::StatusCode::OK);
  CHECK(taker.left == 0);
  kv::KvStore store;
  const auto read = load_backup(file, store);
  REQUIRE(read.ok());
  CHECK(store.digest() == after.store.digest());
  CHECK(read->header.revision == after.store.revision());
  CHECK(read->header.cluster_id == serving.config.cluster_id);
  CHECK(serving.group.wishes == 1);
}

TEST_CASE("a call keeps a part or two of its file for a client that does not read") {
  const Published state(30);
  Serving serving;
  serving.newest.offer(Slot(1), state.fd.get());
  Taker taker(serving, by_tcp("10.0.0.1:1"), Taker::Reads::kLater);
  for (int i = 0; i < 100; ++i) serving.turn(*taker.client);
  CHECK(serving.server().held_bytes() < 1024 * 1024);
  CHECK_FALSE(taker.answer().ended);
}

TEST_CASE("a few calls are sent at a time, and one that is given up leaves its place") {
  const Published state(30);
  Serving serving;
  serving.newest.offer(Slot(1), state.fd.get());
  Taker first(serving, by_tcp("10.0.0.1:1"), Taker::Reads::kLater);
  Taker second(serving, by_tcp("10.0.0.2:1"), Taker::Reads::kLater);
  Taker third(serving, by_tcp("10.0.0.3:1"));
  CHECK(third.status() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(third.why().starts_with(
      "no more than 2 snapshots are sent at a time, now to 10.0.0.1:1 and 10.0.0.2:1;"));
  first.client->read_nothing(false);
  first.client->reset(first.id);
  serving.turn(*first.client);
  Taker next(serving);
  CHECK(next.status() == grpc::StatusCode::OK);
  second.client->read_nothing(false);
  CHECK(second.status() == grpc::StatusCode::OK);
}

// Regression: who took two snapshots slowly kept all others from theirs.
TEST_CASE("an address and a user has one snapshot at a time, and the refusal names who has it") {
  const Published state(30);
  Serving serving;
  serving.newest.offer(Slot(1), state.fd.get());
  const Caller doors[][3] = {{by_tcp("[::1]:7"), by_tcp("[::1]:8"), by_tcp("[::2]:7")},
                             {by_unix(5, 7), by_unix(5, 8), by_unix(6, 7)}};
  for (const auto& [holder, again, other] : doors) {
    Taker first(serving, holder, Taker::Reads::kLater);
    Taker refused(serving, again);
    CHECK(refused.status() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(refused.why().starts_with("a snapshot is being sent to " + holder.address + ", and to one "));
    CHECK(Taker(serving, other).status() == grpc::StatusCode::OK);
    first.client->read_nothing(false);
    CHECK(first.status() == grpc::StatusCode::OK);
  }
}

TEST_CASE("a client that takes nothing loses its place, and hears that it was too slow") {
  const Published state(30);
  Serving serving;
  serving.newest.offer(Slot(1), state.fd.get());
  Taker taker(serving, by_tcp("10.0.0.1:1"), Taker::Reads::kLater);
  for (int i = 0; i < kBackupStillMs / kBackupWatchMs + 3; ++i) {
    serving.passed_ns += (kBackupWatchMs + 1) * kNsPerMs;
    serving.now_ns += (kBackupWatchMs + 1) * kNsPerMs;
    serving.turn(*taker.client);
  }
  taker.client->read_nothing(false);
  CHECK(taker.status() == grpc::StatusCode::CANCELLED);
  CHECK(Taker(serving).status() == grpc::StatusCode::OK);
}

TEST_CASE("without an answer of the replicas, or without a supervisor, a call ends with a sentence") {
  Serving serving;
  serving.group.outcome = ReplicaReply::Outcome::kUnknown;
  Taker timed_out(serving);
  CHECK(timed_out.status() == grpc::StatusCode::UNAVAILABLE);
  CHECK(timed_out.why() == "etcdserver: request timed out");
  serving.group.outcome = ReplicaReply::Outcome::kOk;
  serving.loss.since_ns.set_release(1);
  Taker orphan(serving);
  CHECK(orphan.status() == grpc::StatusCode::UNAVAILABLE);
  CHECK(orphan.why().starts_with("there is no supervisor"));
}

TEST_CASE("a server that leaves ends the streams") {
  const Published state(30);
  Serving serving;
  serving.newest.offer(Slot(1), state.fd.get());
  Taker taker(serving, by_tcp("10.0.0.1:1"), Taker::Reads::kLater);
  serving.turn(*taker.client);
  serving.calls.end({grpc::StatusCode::UNAVAILABLE, "the server stops"});
  taker.client->read_nothing(false);
  CHECK(taker.status() == grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace ingot
