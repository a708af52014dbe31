#include "bench/kv_client.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "proto/etcd/rpc.pb.h"
#include "services/ingot_load/methods.h"
#include "services/rpc/client/blocking_channel.h"

namespace ingot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPutTimeout = std::chrono::seconds(30);
constexpr auto kCompactTimeout = std::chrono::seconds(1);
constexpr std::size_t kFillBytes = 64 * 1024;  // of one value
constexpr std::size_t kFillsPerMib = (std::size_t{1} << 20) / kFillBytes;
constexpr auto kFillPatience = std::chrono::minutes(10);  // without an acknowledgement
constexpr auto kFillRetry = std::chrono::milliseconds(50);
constexpr auto kTellEvery = std::chrono::seconds(5);

rpc::client::Target resolve(const std::string& endpoint) {
  const auto target = rpc::client::resolve_target(endpoint);
  INGOT_CHECK(target.ok(), "a child server listens on an address of numbers");
  return *target;
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

absl::Status to_absl(const grpc::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::UnavailableError(status.error_message());
}

// Prints the progress every few seconds, with the longest put.
class Progress {
 public:
  explicit Progress(int mib) : mib_(mib) {}

  void put(std::size_t done, Clock::duration took) {
    longest_ = std::max(longest_, took);
    if (Clock::now() - told_ < kTellEvery) return;
    tell(done);
    told_ = Clock::now();
    told_done_ = done;
    longest_ = {};
  }

  void tell(std::size_t done) const {
    const double per_s = static_cast<double>(done - told_done_) / kFillsPerMib / seconds(Clock::now() - told_);
    std::fprintf(stderr, "filling: %.0f of %d MiB after %.0f s; of late %.1f MiB/s, longest put %.1f s\n",
                 static_cast<double>(done) / kFillsPerMib, mib_, seconds(Clock::now() - begun_), per_s,
                 seconds(longest_));
  }

 private:
  const int mib_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point told_ = begun_;
  std::size_t told_done_ = 0;
  Clock::duration longest_{};
};

}  // namespace

KvClient::KvClient(const std::string& endpoint)
    : channel_(std::make_unique<rpc::client::BlockingChannel>(resolve(endpoint))) {}

KvClient::~KvClient() = default;

absl::StatusOr<std::int64_t> KvClient::put(const std::string& key, const std::string& value) {
  etcdserverpb::PutRequest request;
  etcdserverpb::PutResponse reply;
  request.set_key(key);
  request.set_value(value);
  const absl::Status status = to_absl(
      channel_->call(load::kPutPath, request, reply, {.timeout = kPutTimeout, .wait_for_connection = true}));
  if (!status.ok()) return status;
  return reply.header().revision();
}

absl::Status KvClient::compact(std::int64_t revision) {
  etcdserverpb::CompactionRequest request;
  etcdserverpb::CompactionResponse reply;
  request.set_revision(revision);
  return to_absl(channel_->call(load::kCompactPath, request, reply, {.timeout = kCompactTimeout}));
}

absl::Status fill_mib(const ChildServer& server, int mib) {
  if (mib == 0) return absl::OkStatus();
  KvClient kv(server.endpoint());
  const std::string value(kFillBytes, 'x');
  Progress progress(mib);
  auto acknowledged = Clock::now();
  const std::size_t wanted = static_cast<std::size_t>(mib) * kFillsPerMib;
  for (std::size_t done = 0; done < wanted;) {
    const auto put = kv.put(absl::StrCat("state/", done), value);
    if (put.ok()) {
      ++done;
      progress.put(done, Clock::now() - acknowledged);
      acknowledged = Clock::now();
      continue;
    }
    const bool gone = !server.running();
    if (gone || Clock::now() - acknowledged > kFillPatience) {
      const auto why = gone ? "the server has ended" : put.status().message();
      return absl::UnavailableError(absl::StrCat("the state could not be filled: ", why));
    }
    progress.put(done, Clock::now() - acknowledged);
    std::this_thread::sleep_for(kFillRetry);
  }
  progress.tell(wanted);
  return absl::OkStatus();
}

}  // namespace ingot::bench
