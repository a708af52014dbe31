#include "replication/replica/snapshots/loader.h"

#include <system_error>
#include <utility>

#include "core/check.h"
#include "core/planning/helper_cores.h"
#include "replication/replica/snapshots/format.h"
#include "replication/replica/snapshots/limits.h"
#include "transport/host/huge_pages.h"

namespace ingot::inline replication_replica_snapshots {

namespace {

// Normal priority: until the snapshot is loaded the group is short of one replica, and the peers' command logs reach
// back only a few seconds.
constexpr int kThreadNice = 0;

}  // namespace

// The slot is both in the header and in the content. A file in which the two differ is refused.
SnapshotLoader::Outcome SnapshotLoader::decode(Applier& applier, std::string_view file) {
  const auto read = read_snapshot(file);
  if (!read.ok()) return read.status();
  auto decoded = applier.decode(read->content);
  if (decoded.ok() && decoded->applied != read->name.slot) {
    return absl::InvalidArgumentError("the file is not a snapshot of a replica: its header names another slot");
  }
  return decoded;
}

SnapshotLoader::~SnapshotLoader() {
  if (thread_.joinable()) thread_.join();
}

void SnapshotLoader::start(SnapshotBytes snapshot) {
  INGOT_CHECK(!running_, "one snapshot at a time");
  running_ = true;
  snapshot_ = std::move(snapshot);
  if (snapshot_.file.size() >= kHugePagesFromBytes) allow_huge_pages();
  decoded_.store(false, std::memory_order_relaxed);
  const How how = how_;
  if (how_ == How::kFirstInline) how_ = How::kBackground;
  if (how != How::kBackground) return run();
  try {
    thread_ = std::thread([this] { run_in_background(); });
  } catch (const std::system_error&) {
    run();  // no thread can be started: decode here, though the loop waits meanwhile
  }
}

void SnapshotLoader::run_in_background() {
  become_helper("ingotd-loader", cores_, kThreadNice);
  run();
}

void SnapshotLoader::run() {
  outcome_ = decode(applier_, snapshot_.file);
  snapshot_ = {};
  decoded_.store(true, std::memory_order_release);
}

std::optional<SnapshotLoader::Outcome> SnapshotLoader::poll() {
  INGOT_CHECK(running_, "one is being loaded");
  if (!decoded_.load(std::memory_order_acquire)) return std::nullopt;
  if (thread_.joinable()) thread_.join();
  running_ = false;
  return std::exchange(outcome_, std::nullopt);
}

}  // namespace ingot::replication_replica_snapshots
