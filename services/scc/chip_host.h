// The simulated chip as a ReplicaClient: a thread of its own runs the rounds, sleeps while there is nothing to run, and
// records what comes in.
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

namespace ingot {

// Virtual and real time: while a request has no answer, rounds follow one another as fast as they can. Without one, or
// when requests have waited for so long that rounds have become as long as they can, the chip is likely to wait for
// timers; then virtual time goes no faster than real time, and when no timer is left, not at all.
//
// Thread-safe but for destruction. At most kFrontEndRequestsMax requests and kFrontEndBytesMax of their bytes are in
// flight; more are answered kOverloaded.
class ChipHost final : public ReplicaClient {
 public:
  // Errors: as ChipGroup::create and RecordingWriter::create.
  static absl::StatusOr<std::unique_ptr<ChipHost>> start(const DaemonConfig& config, const SccConfig& scc);
  ~ChipHost() override;  // stop()s

  void submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) override;

  // Calls `task` on the chip's thread, between two rounds, and soon; with null if the chip has ended.
  using Task = std::function<void(ChipGroup*)>;
  void post(Task task);

  // Does something to a replica's core, and tells `done`, on the chip's thread, whether it could: ChipGroup::inject, or
  // UNAVAILABLE if the chip has ended.
  using Told = std::function<void(const absl::Status&)>;
  void act(ChipInput input, Told done);

  // Ends the run; requests without an answer get kUnknown. What was recorded gets its end.
  void stop();

  // Called once, on the chip's thread, if the chip cannot go on.
  void on_failure(std::function<void(const absl::Status&)> failed);

  const InstanceView& view() const { return *view_; }  // until destruction; after stop() it stands still

 private:
  struct Waiting {
    Callback callback;
    std::size_t bytes = 0;
  };

  struct Work {
    ChipInput input;
    Told done;  // null: a request
    Task task;  // not null: this, and no input
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

  // The chip's thread only.
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

}  // namespace ingot
