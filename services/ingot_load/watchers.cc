#include "services/ingot_load/watchers.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingot_load/key_names.h"
#include "services/ingot_load/key_versions.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/nothing_answers.h"
#include "services/ingot_load/own_channel.h"
#include "services/ingot_load/seen_events.h"
#include "services/ingot_load/stamped_value.h"

namespace ingot::load {

namespace pb = etcdserverpb;
using Clock = std::chrono::steady_clock;

// Its thread opens the watches, reads their events, and opens them again when the server is gone.
class Watchers::Stream {
 public:
  Stream(const LoadOptions& options, std::vector<std::uint32_t> keys, const KeyVersions& present)
      : options_(options), keys_(std::move(keys)), stub_(pb::Watch::NewStub(own_channel(options.endpoint))) {
    for (const std::uint32_t key : keys_) seen_.emplace_back(present.versions[key], present.revision);
    thread_ = std::thread([this] { run(); });
  }
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      if (context_ != nullptr) context_->TryCancel();
    }
    changed_.notify_all();
    thread_.join();
  }

  bool wait_open(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return open_; });
  }

  // How many of its watches are not told of these versions by then.
  std::uint64_t wait_told(const std::vector<std::int64_t>& versions, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const auto behind = [&] {
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < keys_.size(); ++i) count += seen_[i].version() < versions[keys_[i]];
      return count;
    };
    while (behind() > 0 && changed_.wait_until(lock, deadline) != std::cv_status::timeout) {
    }
    return behind();
  }

  WatchTotals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  void run() {
    for (bool first = true;; first = false) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      {
        std::unique_lock lock(mutex_);
        const auto pause = std::chrono::milliseconds(first ? 0 : kLoadRetryPauseMs);
        if (changed_.wait_for(lock, pause, [this] { return stopped_; })) return;
        totals_.reopened += !first;
        context_ = &context;
      }
      follow(context);
      const std::lock_guard lock(mutex_);
      context_ = nullptr;
    }
  }

  // A server answers each request to create a watch, and does not read on while too many of its answers are not read:
  // so only some are asked for ahead.
  void follow(grpc::ClientContext& context) {
    const auto call = stub_->Watch(&context);
    std::size_t asked = 0, created = 0;
    pb::WatchResponse response;
    while (true) {
      for (; asked < keys_.size() && asked < created + kLoadWatchesAhead; ++asked) {
        if (!call->Write(creation(asked))) break;
      }
      if (!call->Read(&response)) break;
      created += response.created();
      take(response);
      if (created < keys_.size()) continue;
      const std::lock_guard lock(mutex_);
      open_ = true;
      changed_.notify_all();
    }
    context.TryCancel();
    call->Finish();
  }

  pb::WatchRequest creation(std::size_t watch) const {
    const std::lock_guard lock(mutex_);
    pb::WatchRequest request;
    pb::WatchCreateRequest& create = *request.mutable_create_request();
    create.set_key(key_name(options_.prefix, keys_[watch]));
    create.set_start_revision(seen_[watch].next_revision());
    create.set_watch_id(static_cast<std::int64_t>(watch) + 1);
    return request;
  }

  void take(const pb::WatchResponse& response) {
    const std::lock_guard lock(mutex_);
    const auto watch = static_cast<std::size_t>(response.watch_id() - 1);
    if (response.canceled()) return note_wrong(absl::StrCat("a watch was ended: ", response.cancel_reason()));
    if (response.events_size() == 0) return;
    if (watch >= keys_.size()) return note_wrong("an event came for a watch that was not asked for");
    for (const mvccpb::Event& event : response.events()) take_event(watch, event);
    changed_.notify_all();
  }

  void take_event(std::size_t watch, const mvccpb::Event& event) {
    const mvccpb::KeyValue& kv = event.kv();
    ++totals_.events;
    const char* wrong = event.type() == mvccpb::Event::DELETE ? "is a delete, which nobody asked for"
                                                              : seen_[watch].take(kv.version(), kv.mod_revision());
    if (wrong == nullptr && kv.key() != key_name(options_.prefix, keys_[watch])) wrong = "is another key's";
    if (wrong == nullptr && options_.keep_ledger && !read_stamp(kv.key(), kv.value())) wrong = "has no run's value";
    if (wrong != nullptr) note_wrong(absl::StrCat("the event of ", kv.key(), " at ", kv.mod_revision(), " ", wrong));
  }

  // REQUIRES: mutex_ is held.
  void note_wrong(std::string what) {
    ++totals_.wrong;
    if (totals_.example.empty()) totals_.example = std::move(what);
  }

  const LoadOptions& options_;
  const std::vector<std::uint32_t> keys_;  // by watch
  const std::unique_ptr<pb::Watch::Stub> stub_;
  mutable std::mutex mutex_;  // guards what follows, but the thread
  std::condition_variable changed_;
  std::vector<SeenEvents> seen_;  // by watch
  WatchTotals totals_;
  grpc::ClientContext* context_ = nullptr;  // of the stream that is open
  bool open_ = false;                       // all watches were there once
  bool stopped_ = false;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<Watchers>> Watchers::open(const LoadOptions& options) {
  const auto deadline = Clock::now() + options.timeout;
  const auto present = read_key_versions(options, options.timeout);
  if (!present.ok()) return present.status();
  const int streams = std::min(options.watchers, options.connections);
  std::vector<std::vector<std::uint32_t>> keys(static_cast<std::size_t>(streams));
  for (int i = 0; i < options.watchers; ++i) {
    keys[static_cast<std::size_t>(i % streams)].push_back(static_cast<std::uint32_t>(i % options.keys));
  }
  std::unique_ptr<Watchers> all(new Watchers(options));
  for (auto& some : keys) all->streams_.push_back(std::make_unique<Stream>(options, std::move(some), *present));
  for (const auto& stream : all->streams_) {
    if (!stream->wait_open(deadline)) {
      return absl::UnavailableError(absl::StrCat("the ", options.watchers, " watches were not there in time; a longer "
                                                 "--timeout or fewer --watchers help"));
    }
  }
  return all;
}

Watchers::Watchers(const LoadOptions& options) : options_(options) {}

Watchers::~Watchers() = default;

absl::Status Watchers::await(std::chrono::nanoseconds patience) {
  const auto deadline = Clock::now() + patience;
  const auto present = read_key_versions(options_, patience);
  if (!present.ok()) return present.status();
  behind_ = 0;
  for (const auto& stream : streams_) behind_ += stream->wait_told(present->versions, deadline);
  return absl::OkStatus();
}

WatchTotals Watchers::totals() const {
  WatchTotals all;
  for (const auto& stream : streams_) {
    const WatchTotals some = stream->totals();
    all.events += some.events;
    all.reopened += some.reopened;
    all.wrong += some.wrong;
    if (all.example.empty()) all.example = some.example;
  }
  all.behind = behind_;
  return all;
}

}  // namespace ingot::load
