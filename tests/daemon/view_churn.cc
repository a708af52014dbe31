// Writes to an instance by etcd's API, so that its state is computed from the revision (churn_truth.h), and reads its
// view in place in many processes, which it kills, stops and continues at random: `view_churn ENDPOINT SOCKET KILLS
// STOPS SEED`. ENDPOINT as gRPC takes it, SOCKET: the view socket of an instance that nothing was written to. Ends once
// standard input has ended, KILLS readers were killed, and STOPS were stopped, continued after another generation took
// the place of the one that they had, and have read on. Prints one line of JSON; with 1 and a line on standard error if
// a reader saw what cannot be, or crashed.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/prng.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/view/handle/handle.h"
#include "replication/view/tickets/connect.h"
#include "tests/replication/view/handle/churn_judge.h"
#include "tests/transport/host/child.h"

namespace ingot::test {
namespace {

constexpr ViewRevision kFirst = 2;     // a store begins at revision 1
constexpr std::size_t kReaders = 8;    // at a time
constexpr std::size_t kStoppedMax = 4;  // of them
constexpr std::uint64_t kPauseUs = 30'000;      // at most, between two kills
constexpr std::uint64_t kReadPauseUs = 2'000;   // at most, between two reads
constexpr std::int64_t kWaitMs = 120'000;       // a publisher may be away for seconds
const std::string kTurn = "turn";

// What the processes share.
struct Shared {
  std::atomic<ViewRevision> answered{1};
  std::atomic<ViewRevision> begun{1};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> moves{0};
  std::array<std::atomic<std::uint64_t>, kReaders> reads{};  // of all that had that place
};

// ---- The writer ----------------------------------------------------------------------------------------------------

etcdserverpb::TxnRequest turn(ViewRevision revision) {
  etcdserverpb::TxnRequest request;
  etcdserverpb::Compare& compare = *request.add_compare();
  compare.set_key(kTurn);
  compare.set_target(etcdserverpb::Compare::MOD);
  compare.set_result(etcdserverpb::Compare::EQUAL);
  compare.set_mod_revision(revision == kFirst ? 0 : revision - 1);
  request.add_success()->mutable_request_put()->set_key(kTurn);
  const std::string key = churned_key(churned_by(revision));
  if (churn_deletes(revision)) {
    request.add_success()->mutable_request_delete_range()->set_key(key);
  } else {
    etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(key);
    put.set_value(churned_value(revision));
  }
  return request;
}

// Each revision is written by the transaction that finds the one before, so one whose answer was lost is carried out at
// most once, whenever that is.
int write_for_ever(const std::string& endpoint, Shared& shared) {
  const auto channel = grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials());
  const auto stub = etcdserverpb::KV::NewStub(channel);
  for (ViewRevision revision = kFirst;;) {
    shared.begun = revision;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    etcdserverpb::TxnResponse answer;
    if (!stub->Txn(&context, turn(revision), &answer).ok()) {
      ::usleep(10'000);
      continue;
    }
    INGOT_CHECK(answer.header().revision() >= revision, "it was carried out, now or before");
    INGOT_CHECK(!answer.succeeded() || answer.header().revision() == revision);
    shared.begun = shared.answered = answer.header().revision();
    revision = answer.header().revision() + 1;
  }
}

// ---- Readers -------------------------------------------------------------------------------------------------------

int read_on(const std::string& path, Shared& shared, std::size_t place, std::uint64_t seed) {
  ViewHandle handle(connect_view(path), {.wait_ms = kWaitMs}, seed);
  ChurnJudge judge(handle, {shared.answered, shared.begun, kFirst}, seed);
  Prng prng(seed);
  std::uint64_t moves = 0;
  while (!shared.stop) {
    if (const std::string wrong = judge.read(); !wrong.empty()) {
      std::fprintf(stderr, "view_churn: a reader: %s\n", wrong.c_str());
      return EXIT_FAILURE;
    }
    shared.reads[place].fetch_add(1);
    shared.moves.fetch_add(handle.counts().moves - std::exchange(moves, handle.counts().moves));
    ::usleep(static_cast<useconds_t>(prng.below(kReadPauseUs)));
  }
  return EXIT_SUCCESS;
}

enum class Course { kRuns, kStopped, kContinued };

struct Reader {
  std::unique_ptr<Child> process;
  Course course = Course::kRuns;
  std::uint64_t since = 0;  // kStopped: the generation then; kContinued: its place's reads then
};

// The readers, and who is killed and stopped when.
class Readers {
 public:
  Readers(const std::string& path, Shared& shared, std::uint64_t seed)
      : path_(path), shared_(shared), prng_(seed), watcher_(connect_view(path), {.wait_ms = kWaitMs}, seed) {
    for (std::size_t i = 0; i < kReaders; ++i) start(i);
  }

  // False: a reader had ended by itself.
  bool turn(bool stops_more) {
    ::usleep(static_cast<useconds_t>(prng_.below(kPauseUs)));
    std::uint64_t keys = 0;
    (void)watcher_.count("", "", keys);  // moves on
    for (std::size_t i = 0; i < kReaders; ++i) look_at(i);
    const std::size_t place = prng_.below(kReaders);
    Reader& reader = readers_[place];
    if (reader.course != Course::kRuns) return true;
    if (stops_more && stopped_ < kStoppedMax && prng_.chance(0.2)) {
      reader.process->kill(SIGSTOP);
      reader.course = Course::kStopped;
      reader.since = watcher_.generation();
      ++stopped_;
      return true;
    }
    reader.process->kill();
    if (reader.process->wait() != -SIGKILL) return false;
    ++kills_;
    start(place);
    return true;
  }

  // They end by themselves. False: not all as they should.
  bool end() {
    shared_.stop = true;
    bool well = true;
    for (Reader& reader : readers_) {
      reader.process->kill(SIGCONT);
      well = reader.process->wait() == EXIT_SUCCESS && well;
    }
    return well;
  }

  std::uint64_t kills() const { return kills_; }
  std::uint64_t stops() const { return stops_; }
  std::uint64_t generation() const { return watcher_.generation(); }

 private:
  void start(std::size_t place) {
    readers_[place].process = std::make_unique<Child>(
        [this, place, seed = prng_()] { return read_on(path_, shared_, place, seed); });
  }

  void look_at(std::size_t place) {
    Reader& reader = readers_[place];
    if (reader.course == Course::kStopped && watcher_.generation() > reader.since) {
      reader.since = shared_.reads[place];
      reader.course = Course::kContinued;
      --stopped_;
      reader.process->kill(SIGCONT);
    } else if (reader.course == Course::kContinued && shared_.reads[place] > reader.since) {
      reader.course = Course::kRuns;
      ++stops_;
    }
  }

  const std::string path_;
  Shared& shared_;
  Prng prng_;
  ViewHandle watcher_;
  std::array<Reader, kReaders> readers_;
  std::size_t stopped_ = 0;
  std::uint64_t kills_ = 0, stops_ = 0;
};

bool input_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

int run(const std::string& endpoint, const std::string& path, std::uint64_t kills, std::uint64_t stops,
        std::uint64_t seed) {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  INGOT_CHECK(memory != MAP_FAILED);
  Shared& shared = *new (memory) Shared();
  const Child writer([&] { return write_for_ever(endpoint, shared); });
  while (shared.answered < kFirst) ::usleep(1000);
  Readers readers(path, shared, seed);
  while (!input_ended() || readers.kills() < kills || readers.stops() < stops) {
    if (!readers.turn(!input_ended() || readers.stops() < stops)) return EXIT_FAILURE;
  }
  if (!readers.end()) return EXIT_FAILURE;
  std::uint64_t reads = 0;
  for (const auto& of : shared.reads) reads += of;
  std::printf("{\"kills\":%llu,\"stops\":%llu,\"reads\":%llu,\"moves\":%llu,\"revision\":%lld,\"generation\":%llu}\n",
              static_cast<unsigned long long>(readers.kills()), static_cast<unsigned long long>(readers.stops()),
              static_cast<unsigned long long>(reads), static_cast<unsigned long long>(shared.moves.load()),
              static_cast<long long>(shared.answered.load()), static_cast<unsigned long long>(readers.generation()));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") {
    std::puts("usage: view_churn ENDPOINT SOCKET KILLS STOPS SEED\n\nFor tests: readers of a view that are killed and "
              "stopped, and judged, until its input ends.");
    return 0;
  }
  if (argc != 6) {
    std::fprintf(stderr, "view_churn: give ENDPOINT SOCKET KILLS STOPS SEED instead of \"%s\"; see --help\n",
                 std::string(first).c_str());
    return 2;
  }
  return ingot::test::run(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10),
                          std::strtoull(argv[5], nullptr, 10));
}
