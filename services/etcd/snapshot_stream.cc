#include "services/etcd/snapshot_stream.h"

#include <grpcpp/alarm.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replication/requests/snapshot_wish.h"
#include "services/backup/reader_bound.h"
#include "services/backup/source.h"
#include "services/etcd/errors.h"
#include "services/etcd/refusal.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Reactor = grpc::ServerWriteReactor<pb::SnapshotResponse>;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

std::int64_t now_unix_ms() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_local(const Caller& caller) { return caller.door == Caller::Door::kUnix; }

// Who shares a place: a user by the Unix socket, an address by TCP, from whatever port.
std::string peer_of(const Caller& caller) {
  if (caller.credentials) return absl::StrCat("user ", caller.credentials->uid);
  return caller.address.substr(0, caller.address.rfind(':'));
}

// One alarm at a time drives the call until parts are sent, and then watches that the client takes them. At most one
// write is in flight.
//
// gRPC's calls are made without the mutex, since they may run reactions. Invariant: Finish is called once, and never
// while a write or a TryCancel is under way.
class SnapshotStream final : public Reactor, public std::enable_shared_from_this<SnapshotStream> {
 public:
  SnapshotStream(SnapshotCalls& calls, grpc::CallbackServerContext* context)
      : calls_(calls),
        context_(context),
        caller_(calls.parts.caller ? calls.parts.caller(*context) : Caller{}),
        timer_(calls.metrics, Method::kMaintenanceSnapshot),
        waits_until_(SteadyClock::now() + milliseconds(kBackupWaitMs)) {}

  static SnapshotStream* start(SnapshotCalls& calls, grpc::CallbackServerContext* context) {
    auto stream = std::make_shared<SnapshotStream>(calls, context);
    stream->self_ = stream;
    const std::optional<std::string> why = calls.enter(stream->caller_);
    stream->has_place_ = !why;
    if (why) {
      stream->close({grpc::StatusCode::RESOURCE_EXHAUSTED, *why});
    } else {
      stream->look();
    }
    return stream.get();
  }

  void OnWriteDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      ++written_;
    }
    if (!ok) close(grpc::Status::CANCELLED);
    if (!finish_if_closed()) send_next();
  }

  void OnCancel() override { close(grpc::Status::CANCELLED); }

  void OnDone() override {
    end_wish();
    timer_.finish(status_.error_code());
    const std::shared_ptr<SnapshotStream> last_reference = std::move(self_);
  }

 private:
  // A call of the alarm, and of start().
  void look() {
    std::unique_ptr<grpc::Alarm> over;  // what it was given is freed with it, after this call
    bool sends = false;
    {
      const std::lock_guard lock(mutex_);
      over = std::move(alarm_);
      if (closing_) return;
      sends = sends_;
    }
    if (sends) return watch();
    if (calls_.no_supervisor()) {
      return close({grpc::StatusCode::UNAVAILABLE,
                    "there is no supervisor, to which the replicas hand snapshots over: start ingotd again with the "
                    "flags of this instance, and try again"});
    }
    if (SteadyClock::now() >= waits_until_ && !wished_) {
      return close({grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "other calls had snapshots made until now, after each of which there is a pause; try again"});
    }
    if (SteadyClock::now() >= waits_until_) {
      return close({grpc::StatusCode::UNAVAILABLE,
                    "the replicas have handed over no snapshot in time: look whether the supervisor and a majority of "
                    "the replicas run (ingotctl status), and try again"});
    }
    if (!wished_ && take_wish()) wish();
    if (const auto snapshot = wished_snapshot()) return begin(snapshot);
    look_after(kBackupLookMs);
  }

  // A call that is over takes none: nobody would end it.
  bool take_wish() {
    const std::lock_guard lock(mutex_);
    wished_ = !closing_ && calls_.take_wish(is_local(caller_));
    wish_open_ = wished_;
    return wished_;
  }

  void end_wish() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(wish_open_, false)) calls_.end_wish(is_local(caller_));
  }

  // The client's callback comes once, from its own thread.
  void wish() {
    const auto answered = [stream = shared_from_this()](const ReplicaReply& reply) {
      const grpc::Status status = to_status(reply);
      if (!status.ok()) return stream->close(status);
      const std::lock_guard lock(stream->mutex_);
      stream->below_ = reply.slot;
    };
    calls_.client.submit(RequestKind::kCommand, snapshot_wish(), answered);
  }

  std::shared_ptr<const HeldSnapshot> wished_snapshot() {
    const std::lock_guard lock(mutex_);
    return below_ == Slot(0) ? nullptr : calls_.parts.newest->get(below_);
  }

  void begin(std::shared_ptr<const HeldSnapshot> snapshot) {
    end_wish();
    auto source = BackupSource::open(std::move(snapshot), {.cluster_id = calls_.header.config().cluster_id,
                                                           .made_unix_ms = now_unix_ms(),
                                                           .trees = calls_.parts.trees});
    if (!source.ok()) return close({grpc::StatusCode::INTERNAL, std::string(source.status().message())});
    source_ = *std::move(source);
    bound_.emplace(source_->left());
    {
      const std::lock_guard lock(mutex_);
      sends_ = true;
    }
    look_after(kBackupWatchMs);
    send_next();
  }

  void send_next() {
    auto part = source_->next();
    if (!part.ok()) return close({grpc::StatusCode::INTERNAL, std::string(part.status().message())});
    if (part->empty()) return close(grpc::Status::OK);
    calls_.header.fill(message_.mutable_header());
    message_.mutable_header()->set_revision(source_->header().revision);
    message_.set_remaining_bytes(source_->left());
    message_.set_blob(*std::move(part));
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      writing_ = true;
    }
    StartWrite(&message_);
  }

  // A client that does not read, or too slowly, loses its place.
  void watch() {
    bool cancels = false;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      cancels = cancelling_ = !bound_->look(written_);
    }
    if (!cancels) return look_after(kBackupWatchMs);
    context_->TryCancel();
    {
      const std::lock_guard lock(mutex_);
      cancelling_ = false;
    }
    close(grpc::Status::CANCELLED);
    finish_if_closed();
  }

  void look_after(std::int64_t ms) {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    alarm_ = std::make_unique<grpc::Alarm>();
    const auto deadline = std::chrono::system_clock::now() + milliseconds(ms);
    alarm_->Set(deadline, [stream = shared_from_this()](bool) { stream->look(); });
  }

  void close(const grpc::Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      status_ = status;
    }
    finish_if_closed();
  }

  // True: the call is over, or will be once what is under way has ended.
  bool finish_if_closed() {
    {
      const std::lock_guard lock(mutex_);
      if (!closing_) return false;
      if (writing_ || cancelling_ || std::exchange(finished_, true)) return true;
    }
    if (has_place_) calls_.leave(caller_);  // before the client hears of the end, and asks again
    Finish(status_);
    return true;
  }

  SnapshotCalls& calls_;
  grpc::CallbackServerContext* const context_;
  const Caller caller_;
  RequestTimer timer_;
  const SteadyClock::time_point waits_until_;
  bool has_place_ = false;
  std::shared_ptr<SnapshotStream> self_;  // released in OnDone
  bool wished_ = false;                   // used by look() alone
  std::optional<ReaderBound> bound_;      // likewise, once sends_
  std::unique_ptr<BackupSource> source_;  // set by look() before sends_, then used by one write after the other
  pb::SnapshotResponse message_;          // owned by gRPC while writing_

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<grpc::Alarm> alarm_;
  Slot below_;  // 0: the wish is not answered yet
  bool sends_ = false;
  bool writing_ = false;
  bool cancelling_ = false;
  bool closing_ = false;
  bool finished_ = false;
  bool wish_open_ = false;     // calls_ waits for its end
  std::uint64_t written_ = 0;  // parts
  grpc::Status status_;  // not changed once closing_
};

}  // namespace

std::optional<std::string> SnapshotCalls::enter(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  std::vector<Caller>& callers = callers_[is_local(caller)];
  for (const Caller& other : callers) {
    if (peer_of(other) != peer_of(caller)) continue;
    return absl::StrCat("a snapshot is being sent to ", other.address, ", and to one ",
                        is_local(caller) ? "user" : "address",
                        " one is sent at a time; try again when that client has it");
  }
  if (callers.size() < kBackupsPerDoorMax) {
    callers.push_back(caller);
    return std::nullopt;
  }
  const auto add_address = [](std::string* to, const Caller& other) { absl::StrAppend(to, other.address); };
  return absl::StrCat("no more than ", kBackupsPerDoorMax, " snapshots are sent at a time, now to ",
                      absl::StrJoin(callers, " and ", add_address), "; try again when one of these clients has it");
}

void SnapshotCalls::leave(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  std::erase_if(callers_[is_local(caller)], [&](const Caller& each) { return peer_of(each) == peer_of(caller); });
}

Reactor* start_snapshot_stream(SnapshotCalls& calls, grpc::CallbackServerContext* context) {
  if (calls.parts.newest == nullptr) {
    return refuse_stream<Reactor>(calls.metrics,
                                  "Ingot sends snapshots of replicas that are processes, which they are not here; "
                                  "start it with --isolation=process on this machine's cores");
  }
  return SnapshotStream::start(calls, context);
}

}  // namespace ingot::etcd
