#include "services/control/status_stream.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "services/control/limits.h"
#include "services/control/refused_stream.h"

namespace ingot::inline services_control {
namespace {

using ::ingot::control::v1::GetStatusResponse;
using std::chrono::milliseconds;

// At most one write is in flight; a watcher that reads slowly skips samples and gets the newest one next.
//
// gRPC's calls (StartWrite, Finish) are made without the mutex, since they may run reactions. Invariant: Finish is
// called once, and never while writing_.
class StatusStream final : public grpc::ServerWriteReactor<GetStatusResponse>, public StatusHub::Watcher {
 public:
  StatusStream(StatusHub& hub, milliseconds interval, RequestMetrics& metrics)
      : hub_(hub), timer_(metrics, Method::kControlWatchStatus), filter_(interval) {}

  static StatusStream* start(StatusHub& hub, const std::string& caller, milliseconds interval,
                             RequestMetrics& metrics) {
    auto stream = std::make_shared<StatusStream>(hub, interval, metrics);
    stream->self_ = stream;
    if (const auto why = hub.add(stream, caller)) {
      stream->close(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, *why));
    }
    return stream.get();
  }

  void offer(const StatusSample& sample) override {
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || closing_ || !filter_.admit(sample)) return;
      writing_ = true;
      message_ = sample.status;
    }
    StartWrite(&message_);
  }

  void end() override { close(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the daemon is leaving")); }

  void OnWriteDone(bool ok) override {
    grpc::Status status;
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      if (!ok && !closing_) {
        closing_ = true;
        status_ = grpc::Status::CANCELLED;
      }
      if (!closing_) return;
      status = status_;
    }
    Finish(status);
  }

  void OnCancel() override { close(grpc::Status::CANCELLED); }

  void OnDone() override {
    hub_.remove(this);
    timer_.finish(status_.error_code());
    const std::shared_ptr<StatusStream> last_reference = std::move(self_);
  }

 private:
  void close(const grpc::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      status_ = status;
      if (writing_) return;  // OnWriteDone calls Finish
    }
    Finish(status);
  }

  StatusHub& hub_;
  RequestTimer timer_;
  std::shared_ptr<StatusStream> self_;  // released in OnDone
  std::mutex mutex_;
  ChangeFilter filter_;        // guarded by mutex_
  GetStatusResponse message_;  // owned by gRPC while writing_
  bool writing_ = false;       // guarded by mutex_
  bool closing_ = false;       // guarded by mutex_
  grpc::Status status_;        // guarded by mutex_
};

}  // namespace

grpc::ServerWriteReactor<GetStatusResponse>* start_status_stream(StatusHub& hub,
                                                                 const std::string& caller,
                                                                 const google::protobuf::Duration& interval,
                                                                 RequestMetrics& metrics) {
  if (interval.seconds() < 0 || interval.nanos() < 0 || interval.nanos() > 999'999'999) {
    return new RefusedStream<GetStatusResponse>(
        metrics, Method::kControlWatchStatus,
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                     "interval is not a duration of 0 or more; leave it out for one second"));
  }
  const std::int64_t asked_ms =
      std::min<std::int64_t>(interval.seconds(), kStatusIntervalMsMax / 1000) * 1000 + interval.nanos() / 1'000'000;
  const std::int64_t interval_ms = asked_ms == 0 ? kStatusIntervalMsDefault : asked_ms;
  return StatusStream::start(hub, caller, milliseconds(interval_ms), metrics);
}

}  // namespace ingot::services_control
