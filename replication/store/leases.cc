#include "replication/store/leases.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/stable_hash.h"
#include "replication/store/limits.h"

namespace ingot::kv {
namespace {

constexpr std::int64_t kClockMsMax = std::int64_t{1} << 60;  // beyond any sum of ticks
constexpr std::size_t kSavedHeadBytes = 4 * 8 + 8;
constexpr std::size_t kSavedLeaseBytes = 3 * 8;

}  // namespace

std::uint64_t Leases::hash_of(std::int64_t id, const Lease& lease) {
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(id), static_cast<std::uint64_t>(lease.ttl_s));
  return mix(hash, static_cast<std::uint64_t>(lease.end_ms));
}

std::int64_t Leases::whole_ms(std::int64_t ttl_s) { return ttl_s * 1000 + kLeaseGraceMs; }

std::int64_t Leases::real_end_ms(const Lease& lease) const {
  return std::max(lease.end_ms, restored_ms_ + whole_ms(lease.ttl_s));
}

void Leases::insert(std::int64_t id, const Lease& lease) {
  leases_.emplace(id, lease);
  ends_.emplace(lease.end_ms, id);
  sum_ += hash_of(id, lease);
}

void Leases::move(std::int64_t id, std::int64_t end_ms) {
  Lease& lease = leases_.find(id)->second;
  if (lease.end_ms == end_ms) return;
  ends_.erase({lease.end_ms, id});
  sum_ -= hash_of(id, lease);
  lease.end_ms = end_ms;
  ends_.emplace(lease.end_ms, id);
  sum_ += hash_of(id, lease);
}

// ---- Leases --------------------------------------------------------------------------------------------------------

Code Leases::check(std::int64_t id, std::int64_t ttl_s) const {
  if (id == 0) return Code::kLeaseNotFound;  // etcd's answer
  if (ttl_s > kLeaseTtlMaxS) return Code::kLeaseTtlTooLarge;
  if (contains(id)) return Code::kLeaseExists;
  return size() < kLeasesMax ? Code::kOk : Code::kTooManyLeases;
}

std::int64_t Leases::grant(std::int64_t id, std::int64_t ttl_s) {
  const std::int64_t granted_s = std::max(ttl_s, kLeaseTtlMinS);
  insert(id, {granted_s, clock_ms_ + whole_ms(granted_s)});
  return granted_s;
}

void Leases::erase(std::int64_t id) {
  const auto found = leases_.find(id);
  INGOT_CHECK(found != leases_.end(), "only a lease that there is ends");
  ends_.erase({found->second.end_ms, id});
  sum_ -= hash_of(id, found->second);
  leases_.erase(found);
}

std::int64_t Leases::keep_alive(std::int64_t id) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return 0;
  move(id, clock_ms_ + whole_ms(found->second.ttl_s));
  return found->second.ttl_s;
}

std::optional<Leases::TimeToLive> Leases::time_to_live(std::int64_t id) const {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return std::nullopt;
  const std::int64_t left_ms = real_end_ms(found->second) - kLeaseGraceMs - clock_ms_;
  return TimeToLive{found->second.ttl_s, std::max<std::int64_t>(left_ms - 1, 0) / 1000};
}

std::vector<std::int64_t> Leases::ids() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> ends;
  ends.reserve(ends_.size());
  for (const auto& [end_ms, id] : ends_) ends.emplace_back(real_end_ms(leases_.find(id)->second), id);
  if (!std::is_sorted(ends.begin(), ends.end())) std::sort(ends.begin(), ends.end());
  std::vector<std::int64_t> ids;
  ids.reserve(ends.size());
  for (const auto& [end_ms, id] : ends) ids.push_back(id);
  return ids;
}

// ---- Time ----------------------------------------------------------------------------------------------------------

// Leases keep their places when they are given their whole time: each is moved when its place is reached, so that no
// tick has to move all of them.
void Leases::tick(const Tick& tick) {
  if (tick.number <= last_tick_.number) return;
  if (tick.leadership != last_tick_.leadership) restored_ms_ = clock_ms_;
  last_tick_ = {tick.leadership, tick.number, 0};
  clock_ms_ += tick.ms;
}

void Leases::begin_anew() {
  Leases anew;
  for (const auto& [id, lease] : leases_) anew.insert(id, {lease.ttl_s, whole_ms(lease.ttl_s)});
  *this = std::move(anew);
}

std::optional<std::int64_t> Leases::next_ended(int& looks) {
  while (behind()) {
    const std::int64_t id = ends_.begin()->second;
    const std::int64_t end_ms = real_end_ms(leases_.find(id)->second);
    if (end_ms <= clock_ms_ && end_ms == ends_.begin()->first) return id;
    if (looks-- <= 0) return std::nullopt;
    move(id, end_ms);
  }
  return std::nullopt;
}

// ---- Digest and snapshot -------------------------------------------------------------------------------------------

std::uint64_t Leases::digest_of(std::uint64_t sum) const {
  if (leases_.empty() && last_tick_.number == 0) return 0;
  const std::uint64_t time = mix(static_cast<std::uint64_t>(clock_ms_), static_cast<std::uint64_t>(restored_ms_));
  return mix(mix(sum, time), mix(last_tick_.leadership, last_tick_.number));
}

std::uint64_t Leases::compute_digest() const {
  std::uint64_t sum = 0;
  for (const auto& [id, lease] : leases_) sum += hash_of(id, lease);
  return digest_of(sum);
}

void Leases::save(WireWriter& out) const {
  out.i64(clock_ms_).i64(restored_ms_).u64(last_tick_.leadership).u64(last_tick_.number).u64(ends_.size());
  for (const auto& [end_ms, id] : ends_) out.i64(end_ms).i64(id).i64(leases_.find(id)->second.ttl_s);
}

std::size_t Leases::save_bytes() const { return kSavedHeadBytes + kSavedLeaseBytes * size(); }

// Invariant: no lease ends later than one that is granted now.
Leases Leases::load(WireReader& in) {
  Leases loaded;
  loaded.clock_ms_ = in.i64();
  loaded.restored_ms_ = in.i64();
  loaded.last_tick_.leadership = in.u64();
  loaded.last_tick_.number = in.u64();
  if (loaded.restored_ms_ < 0 || loaded.restored_ms_ > loaded.clock_ms_ || loaded.clock_ms_ > kClockMsMax) in.fail();
  // Time passes by ticks alone; the digest of a state without any does not see these.
  const bool began = loaded.last_tick_.number != 0;
  if (!began && (loaded.clock_ms_ != 0 || loaded.last_tick_.leadership != 0)) in.fail();
  std::uint64_t left = in.u64();
  if (left > kLeasesMax) in.fail();
  for (; left > 0 && !in.failed(); --left) {
    const std::int64_t end_ms = in.i64(), id = in.i64(), ttl_s = in.i64();
    const bool ascends = loaded.ends_.empty() || *loaded.ends_.rbegin() < std::make_pair(end_ms, id);
    const bool possible = id != 0 && ttl_s >= kLeaseTtlMinS && ttl_s <= kLeaseTtlMaxS && !loaded.contains(id);
    if (!ascends || !possible || end_ms <= 0 || end_ms > loaded.clock_ms_ + whole_ms(ttl_s)) in.fail();
    if (!in.failed()) loaded.insert(id, {ttl_s, end_ms});
  }
  return loaded;
}

}  // namespace ingot::kv
