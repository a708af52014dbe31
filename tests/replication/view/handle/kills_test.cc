// Readers in processes of their own, each with a handle, while publishers and readers are killed and stopped at random
// and generations are replaced under them. Every answer is judged by its revision alone.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/prng.h"
#include "replication/view/board/board.h"
#include "replication/view/generation/memory.h"
#include "replication/view/generation/writer.h"
#include "replication/view/handle/handle.h"
#include "tests/replication/view/generation/churn_truth.h"
#include "tests/replication/view/handle/churn_judge.h"
#include "tests/seeds.h"
#include "tests/transport/host/child.h"
#include "transport/host/segment.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kBytes = kGenerationBytesMin;
constexpr std::uint64_t kIdentity = 99;
constexpr std::size_t kReaders = 3;

// What the test's processes share beside the view.
struct Shared {
  std::atomic<std::int64_t> decided{kChurnedKeys};  // the store's revision: no root is above it
  std::atomic<std::uint64_t> ready{0};              // the newest generation that has a root
  std::atomic<int> board_fd{-1};                    // of the supervisor: /proc/PID/fd leads to them
  std::atomic<int> generation_fd{-1};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> moves{0};
  std::atomic<bool> stop{false};
};

// Tickets by way of the supervisor's open descriptors.
class ProcTickets final : public ViewTickets {
 public:
  ProcTickets(pid_t supervisor, const Shared& shared) : supervisor_(supervisor), shared_(shared) {}

  void ask() override { asked_ = true; }
  std::optional<absl::StatusOr<ViewTicket>> take(int /*wait_ms*/) override {
    if (!std::exchange(asked_, false)) return std::nullopt;
    ViewTicket ticket{open(shared_.board_fd), open(shared_.generation_fd)};
    if (!ticket.board.valid() || !ticket.generation.valid()) return absl::UnavailableError("no descriptor there");
    return ticket;
  }
  void forget() override { asked_ = false; }

 private:
  Descriptor open(int fd) const {
    const std::string path = "/proc/" + std::to_string(supervisor_) + "/fd/" + std::to_string(fd);
    return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }

  const pid_t supervisor_;
  const Shared& shared_;
  bool asked_ = false;
};

// ---- A publisher ---------------------------------------------------------------------------------------------------

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

ViewChange change_of(ViewRevision revision, const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .deleted = churn_deletes(revision), .revision = revision, .created = revision,
          .version = 1};
}

void load(GenerationWriter& writer, const LastChurn& last, ViewRevision at) {
  for (ViewRevision i = 0; i < kChurnedKeys; ++i) {
    const ViewRevision changed = last(i, at);
    if (changed < 1 || churn_deletes(changed)) continue;
    const std::string key = churned_key(i), value = churned_value(changed);
    INGOT_CHECK(writer.apply(change_of(changed, key, value)).ok());
  }
  INGOT_CHECK(writer.publish(at, now_ms()).ok());
}

// Loads the store, and follows it: each batch is decided before it is published.
int publish_for_ever(std::span<std::byte> board_memory, std::span<std::byte> memory, std::uint64_t number,
                     Shared& shared) {
  auto board = BoardPublisher::open(board_memory, number);
  auto created = GenerationWriter::create(memory, {.seed = number, .identity = kIdentity, .number = number});
  INGOT_CHECK(board.ok() && created.ok());
  board->hold();
  GenerationWriter& writer = **created;
  ViewRevision revision = shared.decided;
  load(writer, LastChurn(), revision);
  shared.ready = number;
  Prng prng(number);
  for (;;) {
    const ViewRevision to = revision + 1 + static_cast<ViewRevision>(prng.below(5));
    shared.decided = to;
    while (revision < to) {
      ++revision;
      const std::string key = churned_key(churned_by(revision));
      const std::string value = churn_deletes(revision) ? "" : churned_value(revision);
      INGOT_CHECK(writer.apply(change_of(revision, key, value)).ok());
    }
    do {
      INGOT_CHECK(writer.publish(revision, now_ms()).ok());
    } while (writer.free_bytes() < kBytes / 4 && ::usleep(1000) == 0);
    board->set_revision(revision);
  }
}

// ---- The supervisor ------------------------------------------------------------------------------------------------

struct Mapped {
  Descriptor fd;
  Segment memory;
};

Mapped mapped(absl::StatusOr<Descriptor> fd) {
  INGOT_CHECK(fd.ok());
  auto memory = Segment::map(fd->get(), Segment::Access::kReadWrite);
  INGOT_CHECK(memory.ok());
  return {*std::move(fd), *std::move(memory)};
}

// Holds one board and at most two generations; of publishers, one runs. Each has its own board.
class Supervisor {
 public:
  explicit Supervisor(Shared& shared) : shared_(shared) { replace(); }
  ~Supervisor() { publisher_->kill(); }

  // The publisher ends; the next one makes the next generation, and its predecessor's is given back.
  void replace() {
    if (publisher_) {
      publisher_->kill();
      publisher_->wait();
    }
    Mapped board = mapped(create_board_memory());
    Mapped memory = mapped(create_generation_memory(kBytes));
    ++number_;
    auto keeper = BoardKeeper::create(board.memory.bytes(), {.identity = kIdentity, .incarnation = number_});
    INGOT_CHECK(keeper.ok());
    publisher_ = std::make_unique<Child>(
        [&] { return publish_for_ever(board.memory.bytes(), memory.memory.bytes(), number_, shared_); });
    while (shared_.ready < number_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    keeper->name({.number = number_, .bytes = kBytes, .why = WhyReplaced::kDied, .incarnation = number_});
    shared_.board_fd = board.fd.get();
    shared_.generation_fd = memory.fd.get();
    if (number_ > 1) give_back();
    board_ = std::move(board);
    memory_ = std::move(memory);
  }
  void signal(int number) { publisher_->kill(number); }

 private:
  void give_back() {
    GenerationWriter::mark_gone(memory_.memory.bytes());
    std::uint64_t offset = 0;
    for (bool done = false; !done;) done = *punch_some(memory_.fd.get(), offset);
  }

  Shared& shared_;
  std::uint64_t number_ = 0;
  Mapped board_;
  Mapped memory_;
  std::unique_ptr<Child> publisher_;
};

// ---- The test -----------------------------------------------------------------------------------------------------

std::unique_ptr<Child> start_reader(pid_t supervisor, Shared& shared, std::uint64_t seed) {
  return std::make_unique<Child>([&, supervisor, seed] {
    ViewHandle handle(std::make_unique<ProcTickets>(supervisor, shared), {.wait_ms = 20'000}, seed);
    ChurnJudge judge(handle, {shared.decided, shared.decided}, seed);
    std::uint64_t moves = 0;
    while (!shared.stop) {
      const std::string wrong = judge.read();
      shared.reads.fetch_add(1);
      shared.moves.fetch_add(handle.counts().moves - std::exchange(moves, handle.counts().moves));
      if (wrong.empty()) continue;
      std::fprintf(stderr, "a reader: %s\n", wrong.c_str());
      return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
  });
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_CASE("whoever is killed or stopped, each read is of one state that was decided, and none goes back in time") {
  Prng prng(testing::drawn_seed());
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  Shared& shared = *new (memory) Shared();
  {
    Supervisor supervisor(shared);
    std::vector<std::unique_ptr<Child>> readers;
    for (std::size_t i = 0; i < kReaders; ++i) readers.push_back(start_reader(::getpid(), shared, prng()));
    std::unique_ptr<Child> stopped = start_reader(::getpid(), shared, prng());  // for longer than a generation
    const std::size_t descriptors = open_descriptors();
    constexpr int kTurns = 25;
    for (int turn = 0; turn < kTurns; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(prng.below(60)));
      stopped->kill(SIGSTOP);
      if (prng.chance(0.3)) supervisor.signal(SIGSTOP);  // in the middle of anything; then it is killed
      std::this_thread::sleep_for(std::chrono::milliseconds(prng.below(20)));
      auto& killed = readers[prng.below(kReaders)];
      killed->kill();
      CHECK(killed->wait() == -SIGKILL);
      killed = start_reader(::getpid(), shared, prng());
      supervisor.replace();
      stopped->kill(SIGCONT);
      REQUIRE(open_descriptors() == descriptors);
    }
    // A reader that lives has gone over to the last generation within a second or two.
    const std::uint64_t reads = shared.reads;
    while (shared.reads < reads + 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    shared.stop = true;
    for (const auto& reader : readers) CHECK(reader->wait() == EXIT_SUCCESS);
    CHECK(stopped->wait() == EXIT_SUCCESS);
  }
  std::printf("%llu reads, %llu times to another generation\n", static_cast<unsigned long long>(shared.reads.load()),
              static_cast<unsigned long long>(shared.moves.load()));
  CHECK(shared.moves > kReaders);
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace ingot::test
