// From a replica's state to a file and back: the same store, without sessions, which goes on like the one that was
// saved.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "core/prng.h"
#include "core/wire.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/loader.h"
#include "replication/replica/snapshots/writer.h"
#include "replication/requests/request.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "services/backup/limits.h"
#include "services/backup/load.h"
#include "services/backup/restore.h"
#include "services/backup/source.h"
#include "tests/replication/store/random_requests.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

// A replica's state, which clients with sessions change.
struct Replicated {
  std::string run(const std::string& command) {
    std::string batch, result;
    Request request;
    request.client = 5 + sequence % 3;
    request.sequence = sequence++;
    request.payload = command;
    append_command(batch, request);
    applier.apply(applier.applied(), batch, [&](const Applier::Applied& applied) { result = applied.result; });
    return result;
  }

  kv::KvStore store;
  Applier applier{store};
  std::uint64_t sequence = 0;
};

class TemporaryFile {
 public:
  TemporaryFile() { ::close(::mkstemp(path_.data())); }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  std::string path_ = std::string(std::getenv("TEST_TMPDIR") != nullptr ? std::getenv("TEST_TMPDIR") : "/tmp") +
                      "/backup-XXXXXX";
};

// As a replica publishes it; `trees`: as one whose broadcasts travel by trees.
std::shared_ptr<const HeldSnapshot> publish(const Applier& applier, const kv::KvStore& store,
                                            const std::string& trees) {
  Descriptor fd(::memfd_create("snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(write_snapshot_file(fd.get(), applier.applied(), [&](StateMachine::Sink sink) {
    const std::string whole = applier.save();
    sink(whole.substr(0, Applier::head_bytes(whole)));
    if (!trees.empty()) sink(WireWriter().bytes(trees).view());
    store.save(sink);
  }));
  return std::make_shared<const HeldSnapshot>(applier.applied(), std::move(fd), std::vector<CoreId>());
}

std::string save(std::shared_ptr<const HeldSnapshot> snapshot, bool trees = false) {
  auto source = BackupSource::open(std::move(snapshot), {.cluster_id = 77, .made_unix_ms = 1000, .trees = trees});
  REQUIRE(source.ok());
  std::string file;
  for (;;) {
    const std::uint64_t left = (*source)->left();
    auto part = (*source)->next();
    REQUIRE(part.ok());
    REQUIRE(part->size() <= kBackupPartBytes);
    REQUIRE((*source)->left() + part->size() == left);
    if (part->empty()) break;
    file += *part;
  }
  REQUIRE(file.size() == backup_file_bytes((*source)->header().content_bytes));
  return file;
}

// What a replica has that starts with what was restored.
void start(const Restored& restored, Replicated& replica) {
  auto memory = Segment::map(restored.snapshot.get(), Segment::Access::kReadOnly);
  REQUIRE(memory.ok());
  auto decoded = SnapshotLoader::decode(replica.applier, as_view(memory->bytes()));
  REQUIRE(decoded.ok());
  CHECK(decoded->applied == kFirstSlotAfterRestore);
  std::move(decoded->load)();
}

void run_random(Replicated& replica, kv::RandomRequests& random, int commands) {
  for (int i = 0; i < commands; ++i) replica.run(kv::encode(random.next_or_alarm(replica.store.revision())));
}

TEST_CASE("a state that is saved and restored goes on with equal digests and answers") {
  for (const std::uint64_t seed : testing::seeds(6)) {
    INFO("seed " << seed);
    kv::RandomRequests random(seed);
    Prng rng(seed);
    Replicated saved, restored;
    run_random(saved, random, 400);
    TemporaryFile file;
    file.write(save(publish(saved.applier, saved.store, "")));
    const std::int64_t bump = rng.chance(0.5) ? static_cast<std::int64_t>(rng.below(1000)) : 0;
    auto outcome = restore({file.path(), bump, bump > 0, ""});
    REQUIRE(outcome.ok());
    start(*outcome, restored);
    // The same in place: what a new life changes is no more than this.
    saved.store.begin_anew(bump, bump > 0);
    REQUIRE(restored.store.digest() == saved.store.digest());
    REQUIRE(restored.store.compute_digest() == saved.store.digest());
    REQUIRE(restored.store.revision() == saved.store.revision());
    for (int i = 0; i < 300; ++i) {
      INFO("command " << i);
      const std::string command = kv::encode(random.next_or_alarm(saved.store.revision()));
      REQUIRE(restored.store.apply(Slot(0), command) == saved.store.apply(Slot(0), command));
      REQUIRE(restored.store.digest() == saved.store.digest());
    }
  }
}

TEST_CASE("sessions of former clients are not restored, and the group's trees are those of the new instance") {
  Replicated saved;
  saved.run(kv::encode(kv::Request(kv::PutRequest{"k", "v"})));
  TemporaryFile file;
  file.write(save(publish(saved.applier, saved.store, "former trees"), /*trees=*/true));
  auto outcome = restore({file.path(), 0, false, "new trees"});
  REQUIRE(outcome.ok());
  CHECK_THAT(outcome->summary, Contains("1 keys, 0 leases, revision 2"));
  auto memory = Segment::map(outcome->snapshot.get(), Segment::Access::kReadOnly);
  REQUIRE(memory.ok());
  const auto read = read_snapshot(as_view(memory->bytes()));
  REQUIRE(read.ok());
  const std::string head = Applier::fresh_head(kFirstSlotAfterRestore);
  REQUIRE(read->content.substr(0, head.size()) == head);
  WireReader in(read->content.substr(head.size()));
  CHECK(in.bytes() == "new trees");
  CHECK(in.rest() == saved.store.save());
}

TEST_CASE("a lease has its whole time again, and ends when that is over") {
  Replicated saved, restored;
  saved.run(kv::encode(kv::Request(kv::LeaseGrantRequest{7, 100})));
  const auto left_s = [](const Replicated& replica) {
    const auto answer = kv::decode_result(replica.store.query(kv::encode(kv::Request(kv::LeaseTimeToLiveRequest{7}))));
    return std::get<kv::LeaseTimeToLiveResult>(answer->body).ttl_s;
  };
  std::uint64_t number = 0;
  const auto pass_s = [&](Replicated& replica, int s) {
    for (int i = 0; i < 2 * s; ++i) replica.store.apply(Slot(0), encode(Tick{1, ++number, 500}));
  };
  pass_s(saved, 60);
  REQUIRE(left_s(saved) == 39);
  TemporaryFile file;
  file.write(save(publish(saved.applier, saved.store, "")));
  auto outcome = restore({file.path(), 0, false, ""});
  REQUIRE(outcome.ok());
  start(*outcome, restored);
  CHECK(left_s(restored) == 99);
  number = 0;  // another life: its leader counts from the state's last tick, and there was none
  pass_s(restored, 60);
  CHECK(left_s(restored) == 39);
  pass_s(restored, 41);
  CHECK(left_s(restored) == -1);
}

TEST_CASE("a wrong file is refused with one sentence that names it") {
  Replicated saved;
  saved.run(kv::encode(kv::Request(kv::PutRequest{"k", "v"})));
  const std::string whole = save(publish(saved.applier, saved.store, ""));
  TemporaryFile file;
  const auto refused = [&](const std::string& bytes) {
    file.write(bytes);
    const auto outcome = restore({file.path(), 0, false, ""});
    REQUIRE(absl::IsInvalidArgument(outcome.status()));
    const std::string why(outcome.status().message());
    REQUIRE_THAT(why, Contains(file.path() + " is not a whole snapshot of Ingot: "));
    return why;
  };
  CHECK_THAT(refused(""), Contains("it is cut short"));
  CHECK_THAT(refused(whole.substr(0, whole.size() / 2)), Contains("it is cut short"));
  std::string changed = whole;
  changed[200] = static_cast<char>(changed[200] ^ 1);
  CHECK_THAT(refused(changed), Contains("its checksum is wrong"));
  // A whole file of another program that knows the format, with content that no store wrote.
  const BackupHeader header{
      .cluster_id = 1, .made_unix_ms = 1, .revision = 2, .compacted = -1, .records = 1, .content_bytes = 8};
  std::string made = encode(header) + "nonsense" + std::string(backup_padding_bytes(8), '\0');
  Sha256 hash;
  hash.add(made);
  CHECK_THAT(refused(made + hash.digest()), Contains("the format is unknown"));
  const auto missing = restore({"/nowhere/backup.snap", 0, false, ""});
  CHECK_THAT(std::string(missing.status().message()), Contains("/nowhere/backup.snap cannot be read: No such file"));
}

// A failed restore counted as a success, since the outcome was read without a look at what waitpid() returned.
TEST_CASE("where the outcome of the child is unknown, a restore has failed") {
  const auto former = ::signal(SIGCHLD, SIG_IGN);
  const auto outcome = restore({"/nowhere/backup.snap", 0, false, ""});
  ::signal(SIGCHLD, former);
  CHECK(absl::IsInternal(outcome.status()));
}

// A mapped file ended its reader by SIGBUS.
TEST_CASE("a file that is cut short while it is used is as it was read") {
  Replicated saved;
  saved.run(kv::encode(kv::Request(kv::PutRequest{"k", "v"})));
  TemporaryFile file;
  file.write(save(publish(saved.applier, saved.store, "")));
  auto read = WholeFile::read(file.path());
  REQUIRE(read.ok());
  REQUIRE(::truncate(file.path().c_str(), 0) == 0);
  kv::KvStore store;
  REQUIRE(load_backup(read->bytes(), store).ok());
  CHECK(store.digest() == saved.store.digest());
}

TEST_CASE("the newest snapshot is handed out to those for whom it is new enough") {
  Replicated state;
  NewestSnapshot newest({});
  CHECK(newest.get(Slot(0)) == nullptr);
  const auto first = publish(state.applier, state.store, "");
  newest.offer(Slot(4), first->fd.get());
  newest.offer(Slot(3), first->fd.get());
  REQUIRE(newest.get(Slot(4)) != nullptr);
  CHECK(newest.get(Slot(4))->slot == Slot(4));
  CHECK(newest.get(Slot(5)) == nullptr);
  newest.offer(Slot(6), first->fd.get());
  CHECK(newest.get(Slot(5))->slot == Slot(6));
}

}  // namespace
}  // namespace ingot
