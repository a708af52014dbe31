#include "tests/services/etcd/watching_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ingot {

namespace pb = etcdserverpb;

namespace {

// Only ends a comparison that hangs: a busy machine has suspended a thread of a server for seven minutes.
constexpr auto kPatience = std::chrono::seconds(1000);

std::string text_of(pb::WatchResponse response) {
  const std::int64_t revision = response.header().revision();
  response.clear_header();
  return "revision " + std::to_string(revision) + " " + response.ShortDebugString();
}

}  // namespace

WatchingStream::WatchingStream(const std::shared_ptr<grpc::Channel>& channel) : stub_(pb::Watch::NewStub(channel)) {
  context_.set_wait_for_ready(true);
  call_ = stub_->Watch(&context_);
  reader_ = std::thread([this] { read(); });
}

WatchingStream::~WatchingStream() {
  context_.TryCancel();
  reader_.join();
  call_->Finish();
}

void WatchingStream::send(const pb::WatchRequest& request) { call_->Write(request); }

std::string WatchingStream::ask(const pb::WatchRequest& request) {
  send(request);
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, kPatience, [this] { return over_ || !answers_.empty(); });
  if (!came) return "no answer";
  if (answers_.empty()) return "the stream ended";
  created_id_ = last_created_;
  std::string answer = std::move(answers_.front());
  answers_.erase(answers_.begin());
  return answer;
}

bool WatchingStream::wait_for(std::int64_t id, std::int64_t revision) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] {
    const WatchLog& log = logs_[id];
    return over_ || !log.ended.empty() || !log.broken.empty() || (log.newest >= revision && !log.cut);
  });
}

WatchLog WatchingStream::take(std::int64_t id, std::int64_t revision) {
  const std::lock_guard lock(mutex_);
  WatchLog& log = logs_[id];
  WatchLog taken = log;
  const auto end = log.ended.empty() ? std::ranges::upper_bound(log.events, revision, {}, &WatchLog::Event::revision)
                                     : log.events.end();
  taken.events.assign(log.events.begin(), end);
  log.events.erase(log.events.begin(), end);
  return taken;
}

void WatchingStream::read() {
  pb::WatchResponse response;
  while (call_->Read(&response)) {
    const std::lock_guard lock(mutex_);
    note(response);
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void WatchingStream::note(const pb::WatchResponse& response) {
  const std::int64_t id = response.watch_id();
  const bool by_itself = response.canceled() && !response.created() && response.compact_revision() != 0;
  if (response.created()) {
    last_created_ = response.canceled() ? -1 : id;
    if (!response.canceled()) logs_[id] = {};
  } else if (response.canceled()) {
    logs_[id].ended = text_of(response);
  }
  if (response.events_size() > 0) {
    note_events(logs_[id], response);
  } else if (!by_itself && (response.created() || response.canceled() || id == -1)) {
    answers_.push_back(text_of(response));
  }
}

void WatchingStream::note_events(WatchLog& log, const pb::WatchResponse& response) {
  if (!log.ended.empty()) log.broken = "events behind the end";
  bool first = true;
  for (const auto& event : response.events()) {
    const std::int64_t revision = event.kv().mod_revision();
    if (revision < log.newest) log.broken = "events out of order: " + response.ShortDebugString();
    if (first && revision == log.newest && !log.cut) log.broken = "a revision in two: " + response.ShortDebugString();
    if (revision > response.header().revision()) log.broken = "a header behind its events";
    first = false;
    log.newest = revision;
    log.events.push_back({revision, event.ShortDebugString()});
  }
  log.cut = response.fragment();
}

WatchingServer::WatchingServer(const std::string& endpoint, int streams)
    : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())),
      kv_(pb::KV::NewStub(channel_)),
      lease_(pb::Lease::NewStub(channel_)) {
  for (int i = 0; i < streams; ++i) streams_.push_back(std::make_unique<WatchingStream>(channel_));
}

void WatchingServer::reopen(int index) {
  streams_[static_cast<std::size_t>(index)] = std::make_unique<WatchingStream>(channel_);
}

WatchingServer::Outcome WatchingServer::carry_out(const KvRequest& request) {
  const auto call_at = [&](auto& stub, auto method, const auto& asked, auto response) -> Outcome {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    const grpc::Status status = (stub.*method)(&context, asked, &response);
    if (!status.ok()) return {0, status.error_message()};
    return {response.header().revision(), ""};
  };
  const auto call = [&](auto... parts) { return call_at(*kv_, parts...); };
  if (const auto* grant = std::get_if<pb::LeaseGrantRequest>(&request)) {
    return call_at(*lease_, &pb::Lease::Stub::LeaseGrant, *grant, pb::LeaseGrantResponse());
  }
  if (const auto* revoke = std::get_if<pb::LeaseRevokeRequest>(&request)) {
    return call_at(*lease_, &pb::Lease::Stub::LeaseRevoke, *revoke, pb::LeaseRevokeResponse());
  }
  if (const auto* live = std::get_if<pb::LeaseTimeToLiveRequest>(&request)) {
    return call_at(*lease_, &pb::Lease::Stub::LeaseTimeToLive, *live, pb::LeaseTimeToLiveResponse());
  }
  if (const auto* leases = std::get_if<pb::LeaseLeasesRequest>(&request)) {
    return call_at(*lease_, &pb::Lease::Stub::LeaseLeases, *leases, pb::LeaseLeasesResponse());
  }
  if (const auto* range = std::get_if<pb::RangeRequest>(&request)) {
    return call(&pb::KV::Stub::Range, *range, pb::RangeResponse());
  }
  if (const auto* put = std::get_if<pb::PutRequest>(&request)) return call(&pb::KV::Stub::Put, *put, pb::PutResponse());
  if (const auto* gone = std::get_if<pb::DeleteRangeRequest>(&request)) {
    return call(&pb::KV::Stub::DeleteRange, *gone, pb::DeleteRangeResponse());
  }
  if (const auto* txn = std::get_if<pb::TxnRequest>(&request)) return call(&pb::KV::Stub::Txn, *txn, pb::TxnResponse());
  return call(&pb::KV::Stub::Compact, std::get<pb::CompactionRequest>(request), pb::CompactionResponse());
}

}  // namespace ingot
