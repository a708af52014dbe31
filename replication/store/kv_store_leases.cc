// The store's leases: grants, ends, and what a tick does.
#include <string>
#include <utility>
#include <variant>

#include "replication/store/kv_store.h"
#include "replication/store/limits.h"
#include "replication/store/writer.h"

namespace ingot::kv {

std::string KvStore::write_leases(const Request& request) {
  Result result;
  if (const auto* wanted = std::get_if<LeaseGrantRequest>(&request)) {
    result.code = grant(*wanted, result.body.emplace<LeaseGrantResult>());
  } else if (const auto* ended = std::get_if<LeaseRevokeRequest>(&request)) {
    result.code = revoke(ended->id);
    result.body = LeaseRevokeResult{};
  } else if (const auto* alive = std::get_if<LeaseKeepAliveRequest>(&request)) {
    auto& kept = result.body.emplace<LeaseKeepAliveResult>();
    kept.ttls_s.reserve(alive->ids.size());
    for (const std::int64_t id : alive->ids) kept.ttls_s.push_back(leases_.keep_alive(id));
  } else {
    tick(std::get<Tick>(request));
    result.body = TickResult{};
  }
  result.revision = revision_;
  return encode(result);
}

Code KvStore::grant(const LeaseGrantRequest& request, LeaseGrantResult& result) {
  if (const Code code = leases_.check(request.id, request.ttl_s); code != Code::kOk) return code;
  if (counted().sum() > quota_.puts_max() - kLeaseCountedBytes) {
    no_space_ = true;
    return Code::kNoSpace;
  }
  result.id = request.id;
  result.ttl_s = leases_.grant(request.id, request.ttl_s);
  return Code::kOk;
}

Code KvStore::revoke(std::int64_t id) {
  if (!leases_.contains(id)) return Code::kLeaseNotFound;
  end_lease(id);
  return Code::kOk;
}

// Its keys go in their order, in one revision.
void KvStore::end_lease(std::int64_t id) {
  Writer writer(history_, revision_, quota_, leases_);
  for (const std::string_view key : history_.attachments().of(id)) writer.remove_attached(key);
  revision_ = writer.revision();
  leases_.erase(id);
}

void KvStore::tick(const Tick& tick) {
  leases_.tick(tick);
  int looks = kTickLooks;
  std::size_t keys = 0;
  for (int ended = 0; ended < kTickEndedLeases && keys < kTickEndedKeys; ++ended) {
    const auto id = leases_.next_ended(looks);
    if (!id) return;
    keys += history_.attachments().count(*id);
    end_lease(*id);
    ++leases_ended_;
  }
}

StateMachine::Clock KvStore::clock() const { return {leases_.size() > 0, leases_.behind(), leases_.last_tick()}; }

// ---- Reads ---------------------------------------------------------------------------------------------------------

std::string KvStore::read(const LeaseTimeToLiveRequest& request) const {
  Result result;
  result.revision = revision_;
  auto& live = result.body.emplace<LeaseTimeToLiveResult>();
  if (const auto found = leases_.time_to_live(request.id)) {
    live.ttl_s = found->left_s;
    live.granted_ttl_s = found->granted_s;
  }
  std::size_t bytes = 0;
  if (request.keys) {
    const std::size_t bytes_min = history_.attachments().count(request.id) * (sizeof(std::uint32_t) + 1);
    if (bytes_min > kResultBytesMax) return failure(Code::kResultTooLarge);
    for (const std::string_view key : history_.attachments().of(request.id)) {
      bytes += sizeof(std::uint32_t) + key.size();
      if (bytes > kResultBytesMax) return failure(Code::kResultTooLarge);
      live.keys.emplace_back(key);
    }
  }
  return encode(result);
}

std::string KvStore::read(const LeasesRequest&) const {
  Result result;
  result.revision = revision_;
  result.body = LeasesResult{leases_.ids()};
  return encode(result);
}

}  // namespace ingot::kv
