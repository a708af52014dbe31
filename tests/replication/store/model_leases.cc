// The model's leases: each end is written down, and all of them are looked at on each tick.
#include <algorithm>

#include "tests/replication/store/model.h"

namespace ingot::kv {
namespace {

constexpr std::int64_t kGraceMs = 600;

}  // namespace

Code Model::grant(const LeaseGrantRequest& r, LeaseGrantResult& result) {
  if (r.id == 0) return Code::kLeaseNotFound;
  if (r.ttl_s > 9'000'000'000) return Code::kLeaseTtlTooLarge;
  if (leases_.contains(r.id)) return Code::kLeaseExists;
  const Counted now = counted();
  if (quota_bytes_ != 0 && now.live + now.history + 256 > quota_bytes_) return Code::kNoSpace;
  result.id = r.id;
  result.ttl_s = std::max<std::int64_t>(r.ttl_s, 2);
  leases_[r.id] = {result.ttl_s, clock_ms_ + result.ttl_s * 1000 + kGraceMs};
  return Code::kOk;
}

void Model::end_lease(std::int64_t id) {
  Keys keys = copies_.back();
  const Revision next = revision() + 1;
  std::erase_if(keys, [&](const auto& entry) {
    if (entry.second.lease != id) return false;
    changes_.push_back({next, entry.first, true, 0});
    changes_.back().kv.key = entry.first;
    changes_.back().kv.mod_revision = next;
    return true;
  });
  if (keys.size() < copies_.back().size()) copies_.push_back(std::move(keys));
  leases_.erase(id);
}

std::vector<std::int64_t> Model::by_end() const {
  std::vector<std::int64_t> ids;
  for (const auto& [id, lease] : leases_) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](auto a, auto b) { return leases_.at(a).end_ms < leases_.at(b).end_ms; });
  return ids;
}

void Model::tick(const Tick& tick) {
  if (tick.number <= last_tick_.number) return;
  if (tick.leadership != last_tick_.leadership) {
    for (auto& [id, lease] : leases_) {
      lease.end_ms = std::max(lease.end_ms, clock_ms_ + lease.ttl_s * 1000 + kGraceMs);
    }
  }
  last_tick_ = tick;
  clock_ms_ += tick.ms;
  for (const std::int64_t id : by_end()) {
    if (leases_.at(id).end_ms <= clock_ms_) end_lease(id);
  }
}

LeaseTimeToLiveResult Model::time_to_live(const LeaseTimeToLiveRequest& r) const {
  LeaseTimeToLiveResult result;
  const auto found = leases_.find(r.id);
  if (found == leases_.end()) return result;
  result.granted_ttl_s = found->second.ttl_s;
  const std::int64_t left_ms = found->second.end_ms - kGraceMs - clock_ms_;
  result.ttl_s = left_ms > 0 ? (left_ms - 1) / 1000 : 0;
  for (const auto& [key, kv] : copies_.back()) {
    if (r.keys && kv.lease == r.id) result.keys.push_back(key);
  }
  return result;
}

Code Model::run_lease(const Request& request, Result& result) {
  if (const auto* r = std::get_if<LeaseGrantRequest>(&request)) {
    return grant(*r, result.body.emplace<LeaseGrantResult>());
  }
  if (const auto* r = std::get_if<LeaseRevokeRequest>(&request)) {
    if (!leases_.contains(r->id)) return Code::kLeaseNotFound;
    end_lease(r->id);
    result.body = LeaseRevokeResult{};
  } else if (const auto* r = std::get_if<LeaseKeepAliveRequest>(&request)) {
    auto& ttls_s = result.body.emplace<LeaseKeepAliveResult>().ttls_s;
    for (const std::int64_t id : r->ids) {
      ttls_s.push_back(leases_.contains(id) ? leases_.at(id).ttl_s : 0);
      if (ttls_s.back() != 0) leases_.at(id).end_ms = clock_ms_ + ttls_s.back() * 1000 + kGraceMs;
    }
  } else if (const auto* r = std::get_if<LeaseTimeToLiveRequest>(&request)) {
    result.body = time_to_live(*r);
  } else if (std::holds_alternative<LeasesRequest>(request)) {
    result.body = LeasesResult{by_end()};
  } else {
    tick(std::get<Tick>(request));
    result.body = TickResult{};
  }
  return Code::kOk;
}

}  // namespace ingot::kv
