// The simulated chip as a ReplicaClient: its own thread runs the rounds, sleeps while the chip is idle, and records the
// inputs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replication/client/replica_client.h"
#include "replication/pages/instance_view.h"
#include "services/scc/chip_group.h"
#include "services/scc/recording.h"

namespace ingot::inline services_scc {

// Virtual and real time: while a request waits for its answer, rounds follow one another as fast as possible. Without
// such a request, or when requests have waited for so long that rounds have reached their maximum length, the chip
// probably waits for timers; then virtual time goes no faster than real time, and stands still when no timer is left.
//
// Thread-safe but for destruction. At most kFrontEndRequestsMax requests and kFrontEndBytesMax of their bytes are in
// flight; requests beyond that are answered kOverloaded.
class ChipHost final : public ReplicaClient {
 public:
  // Errors: as ChipGroup::create and RecordingWriter::create.
  static absl::StatusOr<std::unique_ptr<ChipHost>> start(const DaemonConfig& config, const SccConfig& scc);
  ~ChipHost() override;  // calls stop()

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) override;

  // Calls `task` soon on the chip's thread, between two rounds; with null if the chip has ended.
  using Task = std::function<void(ChipGroup*)>;
  void post(Task task);

  // Injects a fault into a replica's core, and calls `done` on the chip's thread with the status of ChipGroup::inject,
  // or UNAVAILABLE if the chip has ended.
  using Told = std::function<void(const absl::Status&)>;
  void act(ChipInput input, Told done);

  // Ends the run and the recording; requests without an answer get kUnknown.
  void stop();

  // Calls `failed` once, on the chip's thread, if the chip cannot go on.
  void on_failure(std::function<void(const absl::Status&)> failed);

  const InstanceView& view() const { return *view_; }  // valid until destruction; unchanged after stop()

 private:
  struct Waiting {
    Callback callback;
    std::size_t bytes = 0;
  };

  struct Work {
    ChipInput input;
    Told done;  // null for a request
    Task task;  // if not null, this item is a task and not an input
  };

  using Clock = std::chrono::steady_clock;

  ChipHost() = default;
  absl::Status build(const DaemonConfig& config, const SccConfig& scc);
  void run();
  void fail(const absl::Status& why);
  bool take_in();
  void inject(ChipInput input, const Told& done);
  void hand_out();
  void wait(ChipGroup::Progress progress, Clock::time_point even);
  void give_up();
  void add(Work work);
  static void refuse(const Work& work);

  // Used by the chip's thread only.
  std::unique_ptr<ChipGroup> group_;
  std::unique_ptr<RecordingWriter> recorder_;
  const InstanceView* view_ = nullptr;

  std::mutex mutex_;
  std::condition_variable work_arrived_;
  std::deque<Work> work_;                               // guarded by mutex_, as are the following
  std::unordered_map<std::uint64_t, Waiting> waiting_;  // requests without an answer, by id
  std::size_t waiting_bytes_ = 0;
  std::uint64_t next_id_ = 1;
  bool stopping_ = false;
  bool ended_ = false;
  bool leaving_ = false;  // the destructor runs
  std::function<void(const absl::Status&)> failed_;
  std::thread thread_;
};

}  // namespace ingot::services_scc
