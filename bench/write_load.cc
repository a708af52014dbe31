#include "bench/write_load.h"

#include <chrono>
#include <cstddef>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingot_load/run_state.h"

namespace ingot::bench {
namespace {

constexpr std::size_t kTimesMax = 4096;
constexpr auto kRequestTimeout = std::chrono::seconds(30);

std::shared_ptr<grpc::Channel> connect(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
}

grpc::Status put(etcdserverpb::KV::Stub& stub, const std::string& key, const std::string& value,
                 std::int64_t& revision) {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kRequestTimeout);
  etcdserverpb::PutRequest request;
  etcdserverpb::PutResponse reply;
  request.set_key(key);
  request.set_value(value);
  const grpc::Status status = stub.Put(&context, request, &reply);
  revision = reply.header().revision();
  return status;
}

}  // namespace

WriteLoad::WriteLoad(const std::string& endpoint, int clients) {
  for (int i = 0; i < clients; ++i) threads_.emplace_back([this, endpoint, i] { run(endpoint, i); });
}

WriteLoad::~WriteLoad() {
  stop_.store(true);
  for (std::thread& thread : threads_) thread.join();
}

void WriteLoad::run(const std::string& endpoint, int client) {
  const auto stub = etcdserverpb::KV::NewStub(connect(endpoint));
  const std::string key = absl::StrCat("failover/", client);
  for (std::uint64_t i = 0; !stop_.load(std::memory_order_relaxed); ++i) {
    std::int64_t revision = 0;
    if (put(*stub, key, absl::StrCat(i), revision).ok()) {
      note(revision, load::now_ns());
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

void WriteLoad::note(std::int64_t revision, std::uint64_t now_ns) {
  acknowledged_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  times_ns_.emplace(revision, now_ns);
  if (times_ns_.size() > kTimesMax) times_ns_.erase(times_ns_.begin());
}

std::uint64_t WriteLoad::acknowledged_ns_above(std::int64_t revision) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t first_ns = 0;
  for (auto at = times_ns_.upper_bound(revision); at != times_ns_.end(); ++at) {
    if (first_ns == 0 || at->second < first_ns) first_ns = at->second;
  }
  return first_ns;
}

absl::Status fill_mib(const std::string& endpoint, int mib) {
  const auto stub = etcdserverpb::KV::NewStub(connect(endpoint));
  const std::string value(std::size_t{1} << 20, 'x');
  for (int i = 0; i < mib; ++i) {
    std::int64_t revision = 0;
    const grpc::Status status = put(*stub, absl::StrCat("state/", i), value, revision);
    if (!status.ok()) return absl::UnavailableError("the state could not be filled: " + status.error_message());
  }
  return absl::OkStatus();
}

}  // namespace ingot::bench
