#include "services/ingotctl/verbs/snapshot.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/store/kv_store.h"
#include "services/backup/limits.h"
#include "services/backup/load.h"
#include "services/ingotctl/connection.h"
#include "services/ingotctl/render/snapshot.h"
#include "services/ingotctl/verbs/snapshot_file.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

namespace pb = etcdserverpb;
using Clock = std::chrono::steady_clock;

// Cancels a call that brings nothing for too long.
class Watchdog {
 public:
  Watchdog(grpc::ClientContext& context, std::chrono::nanoseconds longest)
      : context_(context), longest_(longest), last_(Clock::now()), thread_([this] { run(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void note_progress() {
    const std::lock_guard lock(mutex_);
    last_ = Clock::now();
  }
  bool cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!over_ && !cancelled_) {
      changed_.wait_until(lock, last_ + longest_);
      if (over_ || Clock::now() < last_ + longest_) continue;
      cancelled_ = true;
      context_.TryCancel();
    }
  }

  grpc::ClientContext& context_;
  const std::chrono::nanoseconds longest_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Clock::time_point last_;
  bool over_ = false;
  bool cancelled_ = false;
  std::thread thread_;
};

// Says now and then on a terminal how far it has come.
class Progress {
 public:
  void note(std::uint64_t received, std::uint64_t left) {
    if (!terminal_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(200);
    shown_ = true;
    constexpr std::uint64_t kMib = 1024 * 1024;
    std::cerr << "\r" << received / kMib << " MiB of " << (received + left) / kMib << " MiB" << std::flush;
  }
  ~Progress() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  Clock::time_point next_ = Clock::now();
};

absl::Status receive(const CtlOptions& options, SnapshotFile& file) {
  const Connection connection(options);
  const auto stub = pb::Maintenance::NewStub(connection.channel());
  grpc::ClientContext context;
  const auto longest = options.timeout + std::chrono::milliseconds(kBackupWaitMs);
  Watchdog watchdog(context, longest);
  Progress progress;
  const auto stream = stub->Snapshot(&context, pb::SnapshotRequest());
  pb::SnapshotResponse part;
  absl::Status written;
  std::uint64_t received = 0;
  while (written.ok() && stream->Read(&part)) {
    watchdog.note_progress();
    received += part.blob().size();
    progress.note(received, part.remaining_bytes());
    written = file.write(part.blob());
  }
  if (!written.ok()) context.TryCancel();
  const grpc::Status status = stream->Finish();
  if (!written.ok()) return written;
  if (watchdog.cancelled()) {
    return absl::DeadlineExceededError(absl::StrCat("the daemon at ", options.endpoint, " sends nothing; try again"));
  }
  return connection.explain(status);
}

absl::StatusOr<SnapshotSummary> summary_of(const std::string& shown, const std::string& path) {
  auto file = WholeFile::read(path);
  if (!file.ok()) return file.status();
  kv::KvStore store;
  const auto read = load_backup(file->bytes(), store);
  if (!read.ok()) return absl::InvalidArgumentError(absl::StrCat(shown, " ", read.status().message()));
  return SnapshotSummary{shown,           read->header,     read->sha256,  file->bytes().size(),
                         store.live_keys(), store.versions(), store.leases()};
}

void print(const SnapshotSummary& summary, const CtlOptions& options) {
  std::cout << (options.json() ? snapshot_json(summary) : snapshot_text(summary));
}

// After a total loss the next instance begins anew, with few revisions, and a job would replace the last good backup by
// an empty one. A file that is no backup says nothing.
absl::Status check_replaced(const std::string& path, const BackupHeader& saved) {
  std::string begin(kBackupHeaderBytes, '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), kBackupHeaderBytes);
  const auto former = read_backup_header(begin);
  if (!former.ok() || former->cluster_id == saved.cluster_id || former->revision <= saved.revision) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s is the backup of another cluster (%016x) at revision %d, and this one (%016x) is only at revision %d, so it "
      "is not replaced; move it away, or restore it with ingotd --restore",
      path, former->cluster_id, former->revision, saved.cluster_id, saved.revision));
}

absl::Status run_save(const std::string& path, bool overwrite, const CtlOptions& options) {
  auto file = SnapshotFile::create(path, overwrite);
  if (!file.ok()) return file.status();
  if (auto status = receive(options, *file); !status.ok()) return status;
  if (auto status = file->sync(); !status.ok()) return status;
  auto summary = summary_of(path, file->written_path());
  if (!summary.ok()) {
    return absl::UnknownError(absl::StrCat("what was received is discarded: ", summary.status().message()));
  }
  if (overwrite) {
    if (auto status = check_replaced(path, summary->header); !status.ok()) return status;
  }
  if (auto status = file->keep(); !status.ok()) return status;
  print(*summary, options);
  return absl::OkStatus();
}

absl::Status run_status(const std::string& path, const CtlOptions& options) {
  auto summary = summary_of(path, path);
  if (!summary.ok()) return summary.status();
  print(*summary, options);
  return absl::OkStatus();
}

// For those who know etcdctl's: looks at the file, and says how.
absl::Status run_restore(const std::string& path) {
  if (auto summary = summary_of(path, path); !summary.ok()) return summary.status();
  return absl::InvalidArgumentError(absl::StrCat(
      "an instance begins with a snapshot; stop the one that runs, and start ingotd --restore=", path));
}

}  // namespace

void register_snapshot(CLI::App& app, Command& chosen) {
  CLI::App* snapshot = app.add_subcommand("snapshot", "Save the whole state to a file, or check such a file");
  snapshot->require_subcommand(1);
  const auto path = std::make_shared<std::string>();
  const auto overwrite = std::make_shared<bool>(false);
  CLI::App* save = snapshot->add_subcommand("save", "Save the state as it is now, and check what was saved");
  save->add_option("FILE", *path, "Where to; it appears when it is whole")->required();
  save->add_flag("--overwrite", *overwrite, "Replace a file of that name, unless it is of another cluster and newer");
  save->callback([&chosen, path, overwrite] {
    chosen = [path, overwrite](const CtlOptions& options) { return run_save(*path, *overwrite, options); };
  });
  CLI::App* status = snapshot->add_subcommand("status", "Check a file as a restore does, and show what is in it");
  status->add_option("FILE", *path, "The file")->required();
  status->callback([&chosen, path] {
    chosen = [path](const CtlOptions& options) { return run_status(*path, options); };
  });
  CLI::App* restore = snapshot->add_subcommand("restore", "Say how ingotd is started with a file");
  restore->add_option("FILE", *path, "The file")->required();
  restore->callback([&chosen, path] {
    chosen = [path](const CtlOptions&) { return run_restore(*path); };
  });
  snapshot->footer(
      "Examples:\n"
      "  ingotctl snapshot save /var/backups/ingot.snap --overwrite\n"
      "  ingotctl snapshot status /var/backups/ingot.snap -o json\n"
      "  ingotd --restore=/var/backups/ingot.snap   # begins a new instance with that state");
}

}  // namespace ingot::services_ingotctl_verbs
