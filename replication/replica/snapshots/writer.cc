#include "replication/replica/snapshots/writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/planning/helper_cores.h"
#include "core/stable_hash.h"
#include "core/wire.h"
#include "replication/replica/snapshots/limits.h"
#include "transport/host/write_all.h"

namespace ingot::inline replication_replica_snapshots {

namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr int kChildNice = 5;

absl::Status no_room(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, " for a snapshot: ", std::strerror(errno)));
}

bool write_file(int fd, const Applier& applier) {
  return write_snapshot_file(fd, applier.applied(), [&](StateMachine::Sink sink) { applier.save(sink); });
}

// Runs in the child, which must not outlive the replica, nor compete with it for its core.
[[noreturn]] void run_child(int fd, const Applier& applier, ::pid_t parent, const std::vector<CoreId>& cores) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  become_helper("ingotd-snapshot", cores, kChildNice);
  ::_exit(write_file(fd, applier) ? 0 : 1);
}

// Processor time that a process has used. 0: none, or it cannot be read.
std::uint64_t cpu_ns(::pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

}  // namespace

// The header comes last, when the checksum is known.
bool write_snapshot_file(int fd, Slot slot, absl::FunctionRef<void(StateMachine::Sink)> save) {
  if (!write_all(fd, std::string(kSnapshotHeaderBytes, '\0'))) return false;
  bool written = true;
  SnapshotName name{slot, kSnapshotHeaderBytes};
  RunningHash checksum;
  save([&](std::string_view part) {
    written = written && write_all(fd, part);
    name.bytes += part.size();
    checksum.add(part);
  });
  if (!written) return false;
  name.checksum = checksum.value();
  const std::string header = snapshot_header(name);
  return ::pwrite(fd, header.data(), header.size(), 0) == static_cast<ssize_t>(header.size()) &&
         ::fcntl(fd, F_ADD_SEALS, kSeals) == 0;
}

absl::StatusOr<std::shared_ptr<const PublishedSnapshot>> PublishedSnapshot::open(Descriptor fd) {
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return absl::InvalidArgumentError("a snapshot is memory that is sealed against every change");
  }
  auto memory = Segment::map(fd.get(), Segment::Access::kReadOnly);
  if (!memory.ok()) return memory.status();
  const auto file = read_snapshot_header(as_view(memory->bytes()));
  if (!file.ok()) return file.status();
  return std::make_shared<const PublishedSnapshot>(PublishedSnapshot{file->name, std::move(fd), *std::move(memory)});
}

SnapshotWriter::~SnapshotWriter() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

absl::Status SnapshotWriter::start(const Applier& applier) {
  INGOT_CHECK(!running_, "one snapshot at a time");
  const std::uint64_t begun = now_ns();
  fd_ = Descriptor(::memfd_create("ingot-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd_.valid()) return no_room("make memory");
  if (how_ == How::kFork) {
    if (absl::Status status = fork_child(applier); !status.ok()) return status;
  } else if (!write_file(fd_.get(), applier)) {
    return no_room("write memory");
  }
  running_ = true;
  pause_ns_ = now_ns() - begun;
  return absl::OkStatus();
}

absl::Status SnapshotWriter::fork_child(const Applier& applier) {
  const ::pid_t parent = ::getpid();
  const ::pid_t child = ::fork();
  if (child < 0) return no_room("start a process");
  if (child == 0) run_child(fd_.get(), applier, parent, cores_);
  child_ = child;
  child_cpu_ns_ = 0;
  still_ticks_ = 0;
  return absl::OkStatus();
}

void SnapshotWriter::tick() {
  if (child_ < 0) return;
  const std::uint64_t used_ns = cpu_ns(child_);
  still_ticks_ = used_ns == child_cpu_ns_ ? still_ticks_ + 1 : 0;
  child_cpu_ns_ = used_ns;
  if (still_ticks_ >= kSnapshotStillTicks) ::kill(child_, SIGKILL);
}

std::optional<absl::StatusOr<std::shared_ptr<const PublishedSnapshot>>> SnapshotWriter::poll() {
  INGOT_CHECK(running_, "one is being written");
  int outcome = 0;
  if (child_ >= 0) {
    const ::pid_t ended = ::waitpid(child_, &outcome, WNOHANG);
    if (ended == 0) return std::nullopt;
    child_ = -1;
    if (ended < 0) outcome = 0;  // another caller of waitpid() has reaped it: the seals show whether it succeeded
  }
  running_ = false;
  if (outcome != 0) return absl::InternalError("the process that wrote a snapshot died, or had no memory");
  return PublishedSnapshot::open(std::exchange(fd_, Descriptor()));
}

}  // namespace ingot::replication_replica_snapshots
