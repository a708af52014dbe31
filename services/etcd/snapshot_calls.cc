#include "services/etcd/snapshot_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/etcd/rpc.pb.h"
#include "replication/requests/snapshot_wish.h"
#include "services/backup/limits.h"
#include "services/backup/reader_bound.h"
#include "services/backup/source.h"
#include "services/etcd/errors.h"
#include "services/etcd/one_request.h"
#include "transport/host/event_loop.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kNsPerMs = 1'000'000;

std::int64_t now_unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool is_local(const Caller& caller) { return caller.door == Caller::Door::kUnix; }

// Calls with the same word share one place: those of a user by the Unix socket, of an address by TCP.
std::string peer_of(const Caller& caller) {
  if (caller.credentials) return absl::StrCat("user ", caller.credentials->uid);
  return caller.address.substr(0, caller.address.rfind(':'));
}

}  // namespace

// Waits for a snapshot, with a check every kBackupLookMs, and then sends it: the next part follows when the one before
// is on its way, and a check every kBackupWatchMs sees whether the client takes them.
class SnapshotCalls::Stream final : public OneRequest<pb::SnapshotRequest> {
 public:
  Stream(SnapshotCalls& all, const rpc::Call& call)
      : OneRequest(call),
        all_(all),
        caller_(call.caller()),
        timer_(all.metrics_, Method::kMaintenanceSnapshot),
        self_(std::make_shared<Stream*>(this)) {}
  ~Stream() override {
    *self_ = nullptr;
    end_wish();
    if (all_.streams_.erase(this) != 0) all_.places_.leave(caller_);
  }

  void writable() override {
    if (source_ == nullptr) return;
    ++taken_;
    send_next();
  }

  std::uint64_t due_ns() const { return due_ns_; }

  // To be called when it is due.
  void check(std::uint64_t now_ns) {
    source_ == nullptr ? look(now_ns) : watch(now_ns);
  }

  void finish(const grpc::Status& status) {
    due_ns_ = Pollable::kNever;
    timer_.finish(status.error_code());
    call_.finish(status);
  }

 private:
  void begin(pb::SnapshotRequest&&) override {
    if (all_.places_.parts.newest == nullptr) {
      return finish({grpc::StatusCode::UNIMPLEMENTED,
                     "Ingot sends snapshots of replicas that are processes, which they are not here; start it with "
                     "--isolation=process on this machine's cores"});
    }
    if (const auto why = all_.places_.enter(caller_)) return finish({grpc::StatusCode::RESOURCE_EXHAUSTED, *why});
    all_.streams_.insert(this);
    const std::uint64_t now_ns = monotonic_ns();
    waits_until_ns_ = now_ns + kBackupWaitMs * kNsPerMs;
    look(now_ns);
  }

  void look(std::uint64_t now_ns) {
    due_ns_ = now_ns + kBackupLookMs * kNsPerMs;
    if (all_.view_.loss != nullptr && all_.view_.loss->lost()) {
      return finish({grpc::StatusCode::UNAVAILABLE,
                     "there is no supervisor, to which the replicas hand snapshots over: start ingotd again with the "
                     "flags of this instance, and try again"});
    }
    if (now_ns >= waits_until_ns_) return finish(waited_too_long());
    if (!wished_ && all_.places_.take_wish(caller_)) wish();
    if (below_ == Slot(0)) return;
    if (auto snapshot = all_.places_.parts.newest->get(below_)) send(std::move(snapshot), now_ns);
  }

  grpc::Status waited_too_long() const {
    if (!wished_) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              "other calls had snapshots made until now, after each of which there is a pause; try again"};
    }
    return {grpc::StatusCode::UNAVAILABLE,
            "the replicas have handed over no snapshot in time: look whether the supervisor and a majority of the "
            "replicas run (ingotctl status), and try again"};
  }

  // The answer may come before submit() returns, or when the call is over.
  void wish() {
    wished_ = wish_open_ = true;
    all_.client_.submit(RequestKind::kCommand, snapshot_wish(), [self = self_](const ReplicaReply& reply) {
      if (*self == nullptr) return;
      const grpc::Status status = to_status(reply);
      if (!status.ok()) return (*self)->finish(status);
      (*self)->below_ = reply.slot;
    });
  }

  void end_wish() {
    if (std::exchange(wish_open_, false)) all_.places_.end_wish(caller_);
  }

  void send(std::shared_ptr<const HeldSnapshot> snapshot, std::uint64_t now_ns) {
    end_wish();
    auto source = BackupSource::open(std::move(snapshot), {.cluster_id = all_.header_.config().cluster_id,
                                                           .made_unix_ms = now_unix_ms(),
                                                           .trees = all_.places_.parts.trees});
    if (!source.ok()) return finish({grpc::StatusCode::INTERNAL, std::string(source.status().message())});
    source_ = *std::move(source);
    bound_.emplace(source_->left());
    due_ns_ = now_ns + kBackupWatchMs * kNsPerMs;
    send_next();
  }

  // The part before is at most half on its way, so one more is kept for the client.
  void send_next() {
    auto part = source_->next();
    if (!part.ok()) return finish({grpc::StatusCode::INTERNAL, std::string(part.status().message())});
    if (part->empty()) return finish(grpc::Status::OK);
    pb::SnapshotResponse message;
    all_.header_.fill(message.mutable_header());
    message.mutable_header()->set_revision(source_->header().revision);
    message.set_remaining_bytes(source_->left());
    message.set_blob(*std::move(part));
    call_.send(message);
    call_.tell_below(kBackupPartBytes / 2);
  }

  // A call whose client does not read, or reads too slowly, loses its place.
  void watch(std::uint64_t now_ns) {
    due_ns_ = now_ns + kBackupWatchMs * kNsPerMs;
    if (!bound_->look(taken_)) finish({grpc::StatusCode::CANCELLED, "the client has taken the snapshot too slowly"});
  }

  SnapshotCalls& all_;
  const Caller caller_;
  RequestTimer timer_;
  const std::shared_ptr<Stream*> self_;  // null in it once this has gone
  std::uint64_t due_ns_ = Pollable::kNever;
  std::uint64_t waits_until_ns_ = 0;
  bool wished_ = false;
  bool wish_open_ = false;  // places_ waits for its end
  Slot below_;              // 0: the wish is not answered yet
  std::unique_ptr<BackupSource> source_;  // once it sends
  std::optional<ReaderBound> bound_;      // likewise
  std::uint64_t taken_ = 0;               // parts
};

void SnapshotCalls::add_to(rpc::Methods& methods) {
  rpc::Method method;
  method.bounds_output = true;
  method.stream = [this](const rpc::Call& call) { return std::make_unique<Stream>(*this, call); };
  methods.add("/etcdserverpb.Maintenance/Snapshot", std::move(method));
}

// A stream is taken from the set when its handler goes, which is after the round.
void SnapshotCalls::end(const grpc::Status& status) {
  for (Stream* stream : streams_) stream->finish(status);
}

int SnapshotCalls::poll(std::uint64_t now_ns) {
  int due = 0;
  for (Stream* stream : streams_) {
    if (now_ns < stream->due_ns()) continue;
    stream->check(now_ns);
    ++due;
  }
  return due;
}

std::uint64_t SnapshotCalls::deadline_ns() const {
  std::uint64_t first_ns = kNever;
  for (const Stream* stream : streams_) first_ns = std::min(first_ns, stream->due_ns());
  return first_ns;
}

// ---- What all loops share -------------------------------------------------------------------------------------------

std::optional<std::string> SnapshotPlaces::enter(const Caller& caller) {
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

void SnapshotPlaces::leave(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  std::erase_if(callers_[is_local(caller)], [&](const Caller& each) { return peer_of(each) == peer_of(caller); });
}

bool SnapshotPlaces::take_wish(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  return paces_[is_local(caller)].take(SteadyClock::now());
}

void SnapshotPlaces::end_wish(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  paces_[is_local(caller)].end(SteadyClock::now());
}

}  // namespace ingot::etcd
