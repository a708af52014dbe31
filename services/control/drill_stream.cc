#include "services/control/drill_stream.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "replication/pages/instance_view.h"
#include "services/control/availability_probe.h"
#include "services/control/drill.h"
#include "services/control/refused_stream.h"
#include "services/control/to_grpc.h"
#include "services/status/status.h"

namespace ingot::inline services_control {
namespace {

using control_v1::DrillRequest;
using control_v1::DrillResponse;
using control_v1::Hit;

// gRPC's calls (StartWrite, Finish) are made without the mutex, since they may run reactions. Invariant: Finish is
// called once, by the thread that moved the phase to kFinished.
class DrillStream final : public grpc::ServerWriteReactor<DrillResponse>,
                          public std::enable_shared_from_this<DrillStream> {
 public:
  DrillStream(const DrillRequest& request, std::vector<Hit> hits, FaultInjector& injector, ReplicaClient& client,
              RequestMetrics& metrics)
      : request_(request),
        targets_(std::move(hits)),
        injector_(injector),
        client_(client),
        timer_(metrics, Method::kControlDrill) {}

  void start() {
    self_ = shared_from_this();
    message_.mutable_hits()->Add(targets_.begin(), targets_.end());
    StartWrite(&message_);
  }

  // The caller is to know the targets even if this process is one of them. A write that is done may still be on its way
  // through this process; once the one behind it is done, it has left (services/rpc/passing).
  void OnWriteDone(bool ok) override {
    const Phase told = hits_this_process() ? Phase::kFollowing : Phase::kStriking;
    if (advance(Phase::kTelling, ok ? told : Phase::kFinished)) {
      if (!ok) return end(kGone);
      if (told == Phase::kStriking) return inject();
      message_.Clear();
      return StartWrite(&message_);
    }
    if (advance(Phase::kFollowing, Phase::kStriking)) return inject();  // a caller that has gone knows them, too
    if (advance(Phase::kReporting, Phase::kFinished)) end(ok ? grpc::Status::OK : kGone);
  }

  // In kTelling, kFollowing and kReporting a write is in flight and will end by itself; inject() checks cancelled_ when it is done.
  void OnCancel() override {
    cancelled_ = true;
    if (advance(Phase::kMeasuring, Phase::kFinished)) end(kGone);
  }

  void OnDone() override {
    if (probe_) probe_->cancel();
    probe_.reset();
    timer_.finish(status_.error_code());
    const std::shared_ptr<DrillStream> last_reference = std::move(self_);
  }

 private:
  enum class Phase { kTelling, kFollowing, kStriking, kMeasuring, kReporting, kFinished };

  bool hits_this_process() const {
    return std::any_of(targets_.begin(), targets_.end(),
                       [](const Hit& each) { return each.process() == Hit::PROCESS_FRONT_END; });
  }


  // Moves the phase from `from` to `to`; false if the phase was another.
  bool advance(Phase from, Phase to) {
    const std::lock_guard lock(mutex_);
    if (phase_ != from) return false;
    phase_ = to;
    return true;
  }

  // REQUIRES: this caller moved the phase to kFinished.
  void end(const grpc::Status& status) {
    status_ = status;
    Finish(status);
  }

  void inject() {
    for (const Hit& each : targets_) {
      if (const auto sent = injector_.inject(each, request_.action()); !sent.ok()) {
        advance(Phase::kStriking, Phase::kFinished);
        return end(to_grpc(sent));
      }
    }
    if (!request_.wait()) {
      advance(Phase::kStriking, Phase::kFinished);
      return end(grpc::Status::OK);
    }
    // Both hold this stream until OnDone.
    probe_ = std::make_shared<AvailabilityProbe>(
        client_, [self = shared_from_this()] { return self->over(); },
        [self = shared_from_this()](const AvailabilityProbe::Outage& outage) { self->report(outage); });
    const auto probe = probe_;
    advance(Phase::kStriking, Phase::kMeasuring);
    probe->start();
    if (cancelled_ && advance(Phase::kMeasuring, Phase::kFinished)) end(kGone);
  }

  // Whether the kernel shows the signals' effect on all targets. A continued process runs at once.
  bool over() const {
    return std::all_of(targets_.begin(), targets_.end(), [this](const Hit& each) {
      const ProcessCondition now = injector_.condition(each);
      if (request_.action() == DrillRequest::ACTION_STOP) return now != ProcessCondition::kRunning;
      return request_.action() == DrillRequest::ACTION_CONT || now == ProcessCondition::kGone;
    });
  }

  void report(const AvailabilityProbe::Outage& outage) {
    if (!advance(Phase::kMeasuring, Phase::kReporting)) return;
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(outage.gap).count();
    message_.Clear();
    *message_.mutable_outage()->mutable_gap() = google::protobuf::util::TimeUtil::NanosecondsToDuration(ns);
    message_.mutable_outage()->set_writes(outage.writes);
    StartWrite(&message_);
  }

  inline static const grpc::Status kGone = grpc::Status::CANCELLED;

  const DrillRequest request_;
  const std::vector<Hit> targets_;
  FaultInjector& injector_;
  ReplicaClient& client_;
  RequestTimer timer_;
  std::shared_ptr<DrillStream> self_;  // released in OnDone
  std::shared_ptr<AvailabilityProbe> probe_;
  DrillResponse message_;  // owned by gRPC in kTelling, kFollowing and kReporting
  grpc::Status status_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  Phase phase_ = Phase::kTelling;  // guarded by mutex_
};

grpc::ServerWriteReactor<DrillResponse>* refuse(RequestMetrics& metrics, const absl::Status& why) {
  return new RefusedStream<DrillResponse>(metrics, Method::kControlDrill, to_grpc(why));
}

}  // namespace

grpc::ServerWriteReactor<DrillResponse>* start_drill(const DrillRequest& request, const DaemonConfig& config,
                                                     const InstanceView& view, ReplicaClient& client,
                                                     FaultInjector& injector, RequestMetrics& metrics) {
  auto hits = choose_targets(request, read_status(config, view, unix_now_ms(), ShownRoles::kClaimed),
                             [&injector](const Hit& target) { return injector.condition(target); });
  if (!hits.ok()) return refuse(metrics, hits.status());
  auto stream = std::make_shared<DrillStream>(request, *std::move(hits), injector, client, metrics);
  stream->start();
  return stream.get();
}

}  // namespace ingot::services_control
