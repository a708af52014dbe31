// What a client asks of Lease, Lock and Election, as a schedule of calls, of ends from either side, and of time: who is
// told that a lock is held was the first at that revision, no call waits once all keys are gone, and nothing of a call
// stays behind it.
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"
#include "proto/etcd/election.pb.h"
#include "proto/etcd/lock.pb.h"
#include "proto/etcd/rpc.pb.h"
#include "services/etcd/lease_methods.h"
#include "services/locks/lock_methods.h"
#include "services/locks/recipes.h"
#include "services/rpc/server/limits.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "services/watch/watch_methods.h"
#include "tests/fuzz/client_peer.h"
#include "tests/fuzz/client_store.h"
#include "tests/fuzz/rpc_host.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

namespace ep = v3electionpb;
namespace lp = v3lockpb;
namespace pb = etcdserverpb;

constexpr std::uint64_t kMsNs = 1'000'000;
constexpr std::uint64_t kRoundMs = 10;
constexpr int kSettleRounds = 2'000;
constexpr std::size_t kSocketBytes = 64 * 1024;
constexpr std::size_t kCallsMax = 200;  // of a schedule

const std::array<std::string, 4> kNames = {"a", "b", "a/b", ""};  // one's keys are among another's
const std::string kAll(1, '\0');

constexpr const char* kLock = "/v3lockpb.Lock/Lock";
constexpr const char* kCampaign = "/v3electionpb.Election/Campaign";
constexpr std::array<const char*, 12> kPaths = {
    kLock,
    kCampaign,
    "/v3lockpb.Lock/Unlock",
    "/v3electionpb.Election/Proclaim",
    "/v3electionpb.Election/Leader",
    "/v3electionpb.Election/Observe",
    "/v3electionpb.Election/Resign",
    "/etcdserverpb.Lease/LeaseGrant",
    "/etcdserverpb.Lease/LeaseRevoke",
    "/etcdserverpb.Lease/LeaseTimeToLive",
    "/etcdserverpb.Lease/LeaseLeases",
    "/etcdserverpb.Lease/LeaseKeepAlive"};

RequestMetrics& metrics() {
  static RequestMetrics metrics;  // large
  return metrics;
}

class LockWorld {
 public:
  explicit LockWorld(std::string_view bytes) : bytes_(bytes) {
    config_.name = "fuzz";
    config_.replicas = config_.voters = 1;
    leases_.add_to(methods_);
    locks_.add_to(methods_);
    shared_ = std::make_unique<rpc::Shared>(methods_, rpc::ServerBounds(), nullptr);
    shared_->now_ns = 1'000'000'000'000;
    session_ = rpc::Session::create(*shared_, host_);
    peer_.gives_window = true;
    peer_.greet(1 << 20);
    for (std::int64_t lease = 1; lease <= 4; ++lease) store_.write(kv::LeaseGrantRequest{lease, 600});
  }

  void run() {
    while (at_ < bytes_.size() && calls_.size() < kCallsMax) step();
    settle();
  }

 private:
  struct Asked {
    const char* path;
    std::string name;  // of a lock
    bool looked_at = false;
  };

  unsigned byte() { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }
  const std::string& name() { return kNames[byte() % kNames.size()]; }
  std::int64_t lease() { return static_cast<std::int64_t>(byte() % 6) - (byte() % 16 == 0); }  // 5 is none; 0: granted

  void step() {
    switch (byte() % 12) {
      case 0:
      case 1:
        return lock();
      case 2:
        return campaign();
      case 3:
        return ask_by_leader();
      case 4:
        return ask_leases();
      case 5:
        return open(kPaths[byte() % kPaths.size()], "", raw());
      case 6:
        return give_up();
      case 7:
        return write();
      case 8:
        store_.write(kv::CompactRequest{store_.revision()});
        return;
      default:
        for (unsigned rounds = byte() % 8; rounds > 0; --rounds) round();
    }
  }

  void open(const char* path, std::string name, const std::string& message) {
    const int id = peer_.open(rpc::RawClient::grpc_headers(path), rpc::framed(message), byte() % 32 != 0);
    calls_[id] = {path, std::move(name)};
  }
  // Any message, right or wrong.
  std::string raw() {
    const std::size_t size = byte() % 24;
    std::string message;
    while (message.size() < size) message.push_back(static_cast<char>(byte()));
    return message;
  }

  void lock() {
    lp::LockRequest request;
    request.set_name(name());
    request.set_lease(lease());
    open(kLock, request.name(), request.SerializeAsString());
  }
  void campaign() {
    ep::CampaignRequest request;
    request.set_name(name());
    request.set_lease(lease());
    request.set_value(std::string(byte() % 3, 'v'));
    open(kCampaign, "", request.SerializeAsString());
  }
  void ask_by_leader() {
    const std::string& of = name();
    const std::string key = locks::key_of(of, lease());
    const auto fill = [&](ep::LeaderKey* leader) {
      leader->set_name(of);
      leader->set_key(key);
      leader->set_rev(byte() % 2 == 0 ? store_.revision() : byte());
      leader->set_lease(lease());
    };
    ep::ProclaimRequest proclaim;
    ep::ResignRequest resign;
    ep::LeaderRequest leader;
    lp::UnlockRequest unlock;
    switch (byte() % 5) {
      case 0:
        fill(proclaim.mutable_leader());
        return open("/v3electionpb.Election/Proclaim", "", proclaim.SerializeAsString());
      case 1:
        fill(resign.mutable_leader());
        return open("/v3electionpb.Election/Resign", "", resign.SerializeAsString());
      case 2:
        leader.set_name(of);
        return open("/v3electionpb.Election/Observe", "", leader.SerializeAsString());
      case 3:
        leader.set_name(of);
        return open("/v3electionpb.Election/Leader", "", leader.SerializeAsString());
      default:
        unlock.set_key(key);
        return open("/v3lockpb.Lock/Unlock", "", unlock.SerializeAsString());
    }
  }
  void ask_leases() {
    pb::LeaseGrantRequest grant;
    pb::LeaseRevokeRequest revoke;
    pb::LeaseKeepAliveRequest keep;
    grant.set_id(lease());
    grant.set_ttl(byte());
    revoke.set_id(grant.id());
    keep.set_id(grant.id());
    switch (byte() % 3) {
      case 0:
        return open("/etcdserverpb.Lease/LeaseGrant", "", grant.SerializeAsString());
      case 1:
        return open("/etcdserverpb.Lease/LeaseRevoke", "", revoke.SerializeAsString());
      default:
        return open("/etcdserverpb.Lease/LeaseKeepAlive", "", keep.SerializeAsString());
    }
  }
  void give_up() {
    if (calls_.empty()) return;
    const auto at = std::next(calls_.begin(), static_cast<std::ptrdiff_t>(byte() % calls_.size()));
    const Peer::Stream* stream = peer_.find(at->first);
    if (stream != nullptr && !stream->over) peer_.reset(at->first, 8);
  }
  void write() {
    kv::PutRequest put;
    put.key = locks::key_of(name(), lease());
    kv::DeleteRangeRequest gone;
    gone.key = put.key;
    byte() % 2 == 0 ? store_.write(put) : store_.write(gone);
  }

  // In the order in which a loop polls (services/serving/serving_loop.cc).
  void round() {
    rpc::Shared& shared = *shared_;
    shared.now_ns += kRoundMs * kMsNs;
    std::string input;
    peer_.write(input, kSocketBytes);
    shared.timers.run(shared.now_ns, rpc::kTimersPerRound);
    shared.turns.run(shared.counted_output_bytes(), shared.now_ns);
    if (!input.empty()) INGOT_CHECK(session_->receive(input), "the peer obeys the protocol");
    shared.turns.run(shared.counted_output_bytes(), shared.now_ns);
    shared.handlers_over.clear();
    for (const std::function<void()>& task : std::exchange(later_, {})) task();
    watches_.hub().poll(shared.now_ns);
    locks_.leaves().poll(shared.now_ns);
    store_.pump(shared.now_ns);
    std::string output;
    INGOT_CHECK(session_->frames(output));
    session_->tell_writable();
    peer_.receive(output);
    session_->bytes_sent(output.size());
    shared.handlers_over.clear();
    look_at_answers();
  }

  void look_at_answers() {
    for (auto& [id, asked] : calls_) {
      const Peer::Stream* stream = peer_.find(id);
      if (stream == nullptr || !stream->over || std::exchange(asked.looked_at, true)) continue;
      lp::LockResponse response;
      constexpr std::size_t kPrefixBytes = 5;
      if (asked.path != kLock || asked.name.empty() || stream->body.size() < kPrefixBytes) continue;
      INGOT_CHECK(response.ParseFromString(stream->body.substr(kPrefixBytes)));
      check_first(asked.name, response);
    }
  }

  // That revision may be compacted by now.
  void check_first(const std::string& name, const lp::LockResponse& response) {
    kv::RangeRequest first = locks::first_of(locks::prefix_of(name));
    first.revision = response.header().revision();
    const auto result = kv::decode_result(store_.read(first));
    INGOT_CHECK(result.ok());
    if (result->code != kv::Code::kOk) return;
    const auto& found = std::get<kv::RangeResult>(result->body).kvs;
    INGOT_CHECK(!found.empty() && found.front().key == response.key(), "who holds a lock came first");
  }

  bool waits(const char* path) {
    for (const auto& [id, asked] : calls_) {
      const Peer::Stream* stream = peer_.find(id);
      if (asked.path == path && stream != nullptr && !stream->over && stream->ended) return true;
    }
    return false;
  }

  void settle() {
    for (int i = 0; i < 8; ++i) round();
    kv::DeleteRangeRequest all;
    all.key = all.range_end = kAll;
    // Calls that were sent late enter their keys behind the first delete.
    for (int i = 0; waits(kLock) || waits(kCampaign); ++i) {
      INGOT_CHECK(i < kSettleRounds, "no call waits while there is no key");
      store_.write(all);
      round();
    }
    for (const auto& [id, asked] : calls_) {
      const Peer::Stream* stream = peer_.find(id);
      if (stream != nullptr && !stream->over) peer_.reset(id, 8);
    }
    for (int i = 0; i < 8; ++i) round();
    const std::uint64_t left = watch_counters_.watches.get() + watch_counters_.streams.get();
    INGOT_CHECK(left == 0, "no call's watch outlives it");
    session_.reset();
    check_nothing_is_left(*shared_, {});
    store_.pump(shared_->now_ns);
  }

  const std::string_view bytes_;
  std::size_t at_ = 0;
  HeapMeter meter_;
  ClientStore store_{meter_};
  DaemonConfig config_;
  ReplicaPage page_;
  InstanceView view_{.replicas = {&page_}};
  rpc::Methods methods_;
  watch::WatchCounters watch_counters_;
  std::vector<std::function<void()>> later_;  // of the next round
  watch::WatchMethods watches_{store_, config_, view_, metrics(), watch_counters_};
  etcd::LeaseMethods leases_{store_, config_, view_, metrics()};
  locks::LockMethods locks_{store_, watches_.hub(), config_, view_, metrics(),
                            [this](std::function<void()> task) { later_.push_back(std::move(task)); }};
  std::unique_ptr<rpc::Shared> shared_;
  Host host_;
  std::unique_ptr<rpc::Session> session_;
  Peer peer_{true};
  std::map<int, Asked> calls_;  // by stream
};

}  // namespace

void run_locks(std::string_view bytes) { LockWorld(bytes).run(); }

// All bytes are a schedule.
std::string sample_locks(Prng& rng) {
  std::string bytes;
  for (std::uint64_t left = 20 + rng.below(200); left > 0; --left) bytes.push_back(static_cast<char>(rng.below(256)));
  return bytes;
}

}  // namespace ingot::fuzz
