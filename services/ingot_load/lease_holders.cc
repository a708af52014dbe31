#include "services/ingot_load/lease_holders.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingot_load/kept_lease.h"
#include "services/ingot_load/limits.h"
#include "services/ingot_load/own_channel.h"
#include "services/ingot_load/run_state.h"

namespace ingot::load {

namespace pb = etcdserverpb;

namespace {

constexpr std::uint64_t kNsPerS = 1'000'000'000;

}  // namespace

// A thread sends its leases' keep-alives when they are due, another one reads the answers, which come in that order.
class LeaseHolders::Stream {
 public:
  Stream(const LoadOptions& options, int count)
      : options_(options), count_(count), stub_(pb::Lease::NewStub(own_channel(options.endpoint))) {}
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      if (context_ != nullptr) context_->TryCancel();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status grant() {
    const std::int64_t ttl_s = std::chrono::duration_cast<std::chrono::seconds>(options_.lease_ttl).count();
    for (int i = 0; i < count_; ++i) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      context.set_deadline(std::chrono::system_clock::now() + options_.timeout);
      pb::LeaseGrantRequest request;
      request.set_ttl(ttl_s);
      pb::LeaseGrantResponse granted;
      const std::uint64_t asked_ns = now_ns();
      const grpc::Status status = stub_->LeaseGrant(&context, request, &granted);
      if (!status.ok()) {
        return absl::UnavailableError(absl::StrCat("a lease was not granted: ", status.error_message()));
      }
      leases_.emplace_back(granted.id(), asked_ns, static_cast<std::uint64_t>(granted.ttl()) * kNsPerS);
    }
    return absl::OkStatus();
  }
  void keep() {
    thread_ = std::thread([this] { run(); });
  }

  LeaseTotals totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  using Call = grpc::ClientReaderWriter<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>;
  struct Asked {
    std::size_t lease;
    std::uint64_t at_ns;
  };

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto period = options_.lease_ttl / (3 * count_);
    for (std::size_t due = 0;; pause()) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      {
        const std::lock_guard lock(mutex_);
        if (stopped_) return;
        context_ = &context;
        asked_.clear();
        broken_ = false;
      }
      const auto call = stub_->LeaseKeepAlive(&context);
      std::thread reader([&] { read(*call); });
      while (wait_until(begin + static_cast<std::int64_t>(due) * period)) {
        if (!send(*call, due++ % leases_.size())) break;
      }
      context.TryCancel();
      reader.join();
      call->Finish();
      const std::lock_guard lock(mutex_);
      context_ = nullptr;
      totals_.reopened += !stopped_;
    }
  }

  // False: the stream is over.
  bool wait_until(std::chrono::steady_clock::time_point due) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, due, [this] { return stopped_ || broken_; });
    return !stopped_ && !broken_;
  }
  void pause() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(kLoadRetryPauseMs), [this] { return stopped_; });
  }

  bool send(Call& call, std::size_t lease) {
    pb::LeaseKeepAliveRequest request;
    {
      const std::lock_guard lock(mutex_);
      if (leases_[lease].ended()) return true;
      asked_.push_back({lease, now_ns()});
      request.set_id(leases_[lease].id());
    }
    return call.Write(request);
  }

  void read(Call& call) {
    pb::LeaseKeepAliveResponse response;
    while (call.Read(&response)) {
      const std::lock_guard lock(mutex_);
      if (asked_.empty()) break;
      const Asked asked = asked_.front();
      asked_.pop_front();
      const std::uint64_t now = now_ns();
      const auto ttl_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, response.ttl())) * kNsPerS;
      if (leases_[asked.lease].ended()) continue;  // asked twice
      switch (leases_[asked.lease].take(asked.at_ns, ttl_ns, now)) {
        case KeptLease::Answer::kKept:
          totals_.kept.record(now - asked.at_ns);
          break;
        case KeptLease::Answer::kEnded:
          ++totals_.ended;
          break;
        case KeptLease::Answer::kEndedEarly:
          ++totals_.ended_early;
          break;
      }
    }
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

  const LoadOptions& options_;
  const int count_;
  const std::unique_ptr<pb::Lease::Stub> stub_;
  mutable std::mutex mutex_;  // guards what follows, but the thread
  std::condition_variable changed_;
  std::vector<KeptLease> leases_;
  std::deque<Asked> asked_;  // without an answer
  LeaseTotals totals_;
  grpc::ClientContext* context_ = nullptr;  // of the stream that is open
  bool broken_ = false;                     // that stream is over
  bool stopped_ = false;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<LeaseHolders>> LeaseHolders::grant(const LoadOptions& options) {
  const int streams = std::min(options.leases, options.connections);
  std::unique_ptr<LeaseHolders> all(new LeaseHolders);
  std::vector<absl::Status> granted(static_cast<std::size_t>(streams));
  std::vector<std::thread> threads;
  for (int i = 0; i < streams; ++i) {
    const int count = options.leases / streams + (i < options.leases % streams);
    all->streams_.push_back(std::make_unique<Stream>(options, count));
    threads.emplace_back([stream = all->streams_.back().get(), &status = granted[static_cast<std::size_t>(i)]] {
      status = stream->grant();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : granted) {
    if (!status.ok()) return status;
  }
  for (const auto& stream : all->streams_) stream->keep();
  return all;
}

LeaseHolders::LeaseHolders() = default;

LeaseHolders::~LeaseHolders() = default;

LeaseTotals LeaseHolders::totals() const {
  LeaseTotals all;
  for (const auto& stream : streams_) {
    const LeaseTotals some = stream->totals();
    all.kept.merge(some.kept);
    all.ended += some.ended;
    all.ended_early += some.ended_early;
    all.reopened += some.reopened;
  }
  return all;
}

}  // namespace ingot::load
