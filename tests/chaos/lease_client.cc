#include "tests/chaos/lease_client.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/chaos/store_client.h"

namespace ingot::chaos {
namespace {

using std::chrono::milliseconds;

constexpr auto kRequestTimeout = std::chrono::seconds(10);  // longer than the daemon's own
constexpr auto kConnectTime = milliseconds(50);

void set_deadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kRequestTimeout);
}

}  // namespace

std::string end_of_prefix(std::string prefix) {
  ++prefix.back();
  return prefix;
}

LeaseClient::LeaseClient(const std::string& endpoint)
    : channel_(channel_to(endpoint)),
      keys_(etcdserverpb::KV::NewStub(channel_)),
      leases_(etcdserverpb::Lease::NewStub(channel_)) {}

bool LeaseClient::connected() { return channel_->WaitForConnected(std::chrono::system_clock::now() + kConnectTime); }

std::optional<LeaseRecord> LeaseClient::grant(std::int64_t ttl_s) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::LeaseGrantRequest request;
  etcdserverpb::LeaseGrantResponse reply;
  request.set_ttl(ttl_s);
  LeaseRecord lease;
  lease.asked_ns = now_ns();
  if (!leases_->LeaseGrant(&context, request, &reply).ok()) return std::nullopt;
  lease.touched_ns = now_ns();
  lease.id = reply.id();
  lease.ttl_ns = static_cast<std::uint64_t>(reply.ttl()) * 1'000'000'000;
  return lease;
}

bool LeaseClient::keep_alive(LeaseRecord& lease) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::LeaseKeepAliveRequest request;
  etcdserverpb::LeaseKeepAliveResponse reply;
  request.set_id(lease.id);
  const std::uint64_t asked_ns = now_ns();
  const auto stream = leases_->LeaseKeepAlive(&context);
  const bool answered = stream->Write(request) && stream->Read(&reply);
  lease.touched_ns = now_ns();
  stream->WritesDone();
  stream->Finish();
  if (!answered) return false;
  if (reply.ttl() <= 0) {
    lease.refused_ns = lease.touched_ns;
    return false;
  }
  lease.asked_ns = asked_ns;
  return true;
}

void LeaseClient::revoke(LeaseRecord& lease) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::LeaseRevokeRequest request;
  etcdserverpb::LeaseRevokeResponse reply;
  request.set_id(lease.id);
  if (lease.given_up_ns == 0) lease.given_up_ns = now_ns();
  leases_->LeaseRevoke(&context, request, &reply);
}

std::int64_t LeaseClient::put(const std::string& key, std::int64_t lease) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::PutRequest request;
  etcdserverpb::PutResponse reply;
  request.set_key(key);
  request.set_lease(lease);
  return keys_->Put(&context, request, &reply).ok() ? reply.header().revision() : 0;
}

void LeaseClient::remove(LeaseRecord& lease) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::DeleteRangeRequest request;
  etcdserverpb::DeleteRangeResponse reply;
  request.set_key(lease.key);
  if (lease.given_up_ns == 0) lease.given_up_ns = now_ns();
  keys_->DeleteRange(&context, request, &reply);
}

std::optional<std::string> LeaseClient::oldest(const std::string& prefix) {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::RangeRequest request;
  etcdserverpb::RangeResponse reply;
  request.set_key(prefix);
  request.set_range_end(end_of_prefix(prefix));
  request.set_sort_target(etcdserverpb::RangeRequest::CREATE);
  request.set_sort_order(etcdserverpb::RangeRequest::ASCEND);
  request.set_limit(1);
  request.set_keys_only(true);
  if (!keys_->Range(&context, request, &reply).ok()) return std::nullopt;
  return reply.kvs_size() == 0 ? std::string() : reply.kvs(0).key();
}

std::int64_t LeaseClient::revision() {
  grpc::ClientContext context;
  set_deadline(context);
  etcdserverpb::RangeRequest request;
  etcdserverpb::RangeResponse reply;
  request.set_key("none");
  return keys_->Range(&context, request, &reply).ok() ? reply.header().revision() : 0;
}

// ---- Watcher -------------------------------------------------------------------------------------------------------

std::string Watcher::run(const std::string& last_key) {
  std::string trouble;
  while (!stopped_.load() && run_once(last_key, trouble)) std::this_thread::sleep_for(kConnectTime);
  return trouble;
}

void Watcher::stop() {
  stopped_.store(true);
  const std::lock_guard lock(mutex_);
  if (context_ != nullptr) context_->TryCancel();
}

bool Watcher::run_once(const std::string& last_key, std::string& trouble) {
  const auto channel = channel_to(endpoint_);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectTime)) return true;
  const auto stub = etcdserverpb::Watch::NewStub(channel);
  grpc::ClientContext context;
  {
    const std::lock_guard lock(mutex_);
    context_ = &context;
  }
  etcdserverpb::WatchRequest request;
  auto* create = request.mutable_create_request();
  create->set_key(prefix_);
  create->set_range_end(end_of_prefix(prefix_));
  create->set_start_revision(next_);
  const auto stream = stub->Watch(&context);
  bool more = stream->Write(request);
  etcdserverpb::WatchResponse response;
  bool seen_last = false;
  while (more && !seen_last && trouble.empty() && !stopped_.load() && stream->Read(&response)) {
    if (response.canceled()) trouble = absl::StrCat("a watch from revision ", next_, ": ", response.cancel_reason());
    seen_last = take(response, last_key);
  }
  context.TryCancel();
  stream->Finish();
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
  return !seen_last && trouble.empty();
}

// One response has whole revisions, so that the next stream begins behind them.
bool Watcher::take(const etcdserverpb::WatchResponse& response, const std::string& last_key) {
  bool seen_last = false;
  for (const auto& event : response.events()) {
    const bool deleted = event.type() == mvccpb::Event::DELETE;
    events.push_back({event.kv().mod_revision(), event.kv().key(), deleted, now_ns()});
    next_ = event.kv().mod_revision() + 1;
    seen_last = seen_last || event.kv().key() == last_key;
  }
  return seen_last;
}

}  // namespace ingot::chaos
