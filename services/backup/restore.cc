#include "services/backup/restore.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/wire.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/writer.h"
#include "services/backup/load.h"
#include "transport/host/write_all.h"

namespace ingot::inline services_backup {

namespace {

constexpr kv::Revision kRevisionMax = std::int64_t{1} << 62;  // beyond what any instance reaches

absl::Status no_room(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot ", what, " to restore a snapshot: ", std::strerror(errno)));
}

// What a replica would have saved that has applied one slot, and to which no client has spoken.
void save_as_replica(const kv::KvStore& store, const std::string& trees, StateMachine::Sink sink) {
  sink(Applier::fresh_head(kFirstSlotAfterRestore));
  if (!trees.empty()) sink(WireWriter().bytes(trees).view());
  store.save(sink);
}

// The file's bytes are freed when the store has them, before the store is written once more.
absl::StatusOr<BackupHeader> load_file(const RestoreOrder& order, kv::KvStore& store, std::string& sha256) {
  auto file = WholeFile::read(order.file);
  if (!file.ok()) return file.status();
  auto read = load_backup(file->bytes(), store);
  if (!read.ok()) return absl::InvalidArgumentError(absl::StrCat(order.file, " ", read.status().message()));
  sha256 = std::move(read->sha256);
  return read->header;
}

absl::StatusOr<std::string> convert(const RestoreOrder& order, int snapshot) {
  kv::KvStore store;
  std::string sha256;
  const auto header = load_file(order, store, sha256);
  if (!header.ok()) return header.status();
  if (store.revision() > kRevisionMax - order.bump_revision) {
    return absl::InvalidArgumentError(absl::StrCat(order.file, " has revision ", store.revision(),
                                                   ", and with --bump-revision=", order.bump_revision,
                                                   " revisions could overflow"));
  }
  store.begin_anew(order.bump_revision, order.mark_compacted);
  const bool written = write_snapshot_file(snapshot, kFirstSlotAfterRestore,
                                           [&](StateMachine::Sink sink) { save_as_replica(store, order.trees, sink); });
  if (!written) return no_room("write memory");
  return absl::StrCat("restored ", order.file, ": ", store.live_keys(), " keys, ", store.leases(), " leases, revision ",
                      store.revision(),
                      order.bump_revision > 0 ? absl::StrCat(" (", header->revision, " in the file)") : "",
                      ", SHA-256 ", sha256);
}

// Tells the outcome by a pipe: the summary, or an error's sentence.
[[noreturn]] void run_child(const RestoreOrder& order, int snapshot, int pipe, ::pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "ingotd-restore");
  if (::getppid() != parent) ::_exit(1);
  const auto summary = convert(order, snapshot);
  const std::string said = summary.ok() ? *summary : std::string(summary.status().message());
  if (!write_all(pipe, said)) ::_exit(1);
  ::_exit(summary.ok() ? 0 : absl::IsResourceExhausted(summary.status()) ? 3 : 2);
}

std::string read_all(int fd) {
  std::string text;
  char part[1024];
  for (;;) {
    const ssize_t n = ::read(fd, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(part, static_cast<std::size_t>(n));
  }
}

// Nothing: the kernel has told no outcome, as where SIGCHLD is ignored.
std::optional<int> wait_for(::pid_t child) {
  int outcome = 0;
  ::pid_t ended = -1;
  do {
    ended = ::waitpid(child, &outcome, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == child ? std::optional(outcome) : std::nullopt;
}

}  // namespace

absl::StatusOr<Restored> restore(const RestoreOrder& order) {
  Restored restored{Descriptor(::memfd_create("ingot-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
                    kFirstSlotAfterRestore, {}};
  if (!restored.snapshot.valid()) return no_room("make memory");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return no_room("make a pipe");
  const Descriptor reads(ends[0]);
  Descriptor writes(ends[1]);
  const ::pid_t parent = ::getpid();
  const ::pid_t child = ::fork();
  if (child < 0) return no_room("start a process");
  if (child == 0) run_child(order, restored.snapshot.get(), writes.get(), parent);
  writes.reset();
  restored.summary = read_all(reads.get());
  const std::optional<int> outcome = wait_for(child);
  if (!outcome) {
    return absl::InternalError("the outcome of a restore is unknown, since this process is told of no child's end; "
                               "start it where SIGCHLD is not ignored");
  }
  if (*outcome == 0) return restored;
  if (WIFEXITED(*outcome) && WEXITSTATUS(*outcome) == 2) return absl::InvalidArgumentError(restored.summary);
  if (WIFEXITED(*outcome) && WEXITSTATUS(*outcome) == 3) return absl::ResourceExhaustedError(restored.summary);
  return absl::ResourceExhaustedError(absl::StrCat("the process that read ", order.file,
                                                   " was ended; is there memory for its state?"));
}

}  // namespace ingot::services_backup
