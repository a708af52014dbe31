#include "tests/services/etcd/wrong_requests.h"

#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/etcd/lock.pb.h"
#include "proto/etcd/rpc.pb.h"

namespace ingot {

namespace ep = v3electionpb;
namespace lp = v3lockpb;
namespace pb = etcdserverpb;

namespace {

constexpr std::int64_t kTtlMaxS = 9'000'000'000;  // etcd's
constexpr std::size_t kTooLargeBytes = 1'600'000;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kPaths[] = {
    "/etcdserverpb.Lease/LeaseGrant",     "/etcdserverpb.Lease/LeaseRevoke",  "/etcdserverpb.Lease/LeaseTimeToLive",
    "/etcdserverpb.Lease/LeaseLeases",    "/etcdserverpb.Lease/LeaseKeepAlive", "/v3lockpb.Lock/Lock",
    "/v3lockpb.Lock/Unlock",              "/v3electionpb.Election/Campaign",  "/v3electionpb.Election/Proclaim",
    "/v3electionpb.Election/Leader",      "/v3electionpb.Election/Observe",   "/v3electionpb.Election/Resign"};

// Each is refused by every reader of Protocol Buffers: a number or a text that ends too early, a field 0, a kind of
// field that there is not, the end of a group that has not begun.
constexpr std::string_view kUnreadable[] = {"\x08", "\x0a\x05" "abc", "\x0f", "\x0c", "\x0a\xff\xff\xff\xff\x0f",
                                            "\x08\x80"};

WrongRequest made(const char* path, const google::protobuf::Message& message) {
  std::string text = message.ShortDebugString();
  if (text.size() > 1000) text = absl::StrCat(text.substr(0, 1000), "...");
  return {path, message.SerializeAsString(), absl::StrCat(message.GetDescriptor()->name(), " {", text, "}")};
}

}  // namespace

WrongRequest WrongRequests::next() {
  const double kind = prng_.unit();
  if (kind < 0.35) return of_leases();
  if (kind < 0.6) return of_locks();
  if (kind < 0.9) return of_elections();
  return unreadable();
}

std::int64_t WrongRequests::unknown_lease() {
  const std::int64_t ids[] = {-1, -lease_, kMin, kMax, lease_ + 1, 1 + static_cast<std::int64_t>(prng_.below(1 << 30))};
  const std::int64_t id = ids[prng_.below(std::size(ids))];
  return id == lease_ ? id + 1 : id;
}

std::string WrongRequests::name() {
  const std::string names[] = {"", "a", "a/", leader_.name(), leader_.key(), std::string("\0", 1), "\xff\xff"};
  return names[prng_.below(std::size(names))];
}

WrongRequest WrongRequests::of_leases() {
  switch (prng_.below(4)) {
    case 0: {  // it is there, or its time is too long
      pb::LeaseGrantRequest request;
      const bool there = prng_.chance(0.5);
      const std::int64_t long_s = prng_.chance(0.5) ? kTtlMaxS + 1 : kMax;
      const std::int64_t times_s[] = {0, -1, kMin, 60, long_s};
      request.set_id(there ? lease_ : prng_.chance(0.2) ? 0 : unknown_lease());
      request.set_ttl(there ? times_s[prng_.below(std::size(times_s))] : long_s);
      return made("/etcdserverpb.Lease/LeaseGrant", request);
    }
    case 1: {
      pb::LeaseRevokeRequest request;
      request.set_id(prng_.chance(0.2) ? 0 : unknown_lease());
      return made("/etcdserverpb.Lease/LeaseRevoke", request);
    }
    case 2: {
      pb::LeaseTimeToLiveRequest request;
      request.set_id(prng_.chance(0.2) ? 0 : unknown_lease());
      request.set_keys(prng_.chance(0.5));
      return made("/etcdserverpb.Lease/LeaseTimeToLive", request);
    }
    default: {
      pb::LeaseKeepAliveRequest request;
      request.set_id(prng_.chance(0.2) ? 0 : unknown_lease());
      return made("/etcdserverpb.Lease/LeaseKeepAlive", request);
    }
  }
}

WrongRequest WrongRequests::of_locks() {
  if (prng_.chance(0.5)) {
    lp::UnlockRequest request;
    request.set_key(prng_.chance(0.3) ? "" : absl::StrCat("none", name()));
    return made("/v3lockpb.Lock/Unlock", request);
  }
  lp::LockRequest request;
  const bool too_large = prng_.chance(0.01);
  request.set_name(too_large ? std::string(kTooLargeBytes, 'a') : name());
  request.set_lease(too_large ? lease_ : unknown_lease());
  return made("/v3lockpb.Lock/Lock", request);
}

// Nearly the true one.
ep::LeaderKey WrongRequests::leader() {
  ep::LeaderKey key = leader_;
  switch (prng_.below(5)) {
    case 0:
      key.set_rev(key.rev() + 1);
      break;
    case 1: {
      const std::int64_t revisions[] = {0, -1, kMin, kMax};
      key.set_rev(revisions[prng_.below(std::size(revisions))]);
      break;
    }
    case 2:
      key.set_key(prng_.chance(0.5) ? "" : name());
      break;
    case 3:
      key.set_lease(unknown_lease());
      break;
    default:
      key.set_name(name());  // nobody looks at it
      break;
  }
  return key;
}

WrongRequest WrongRequests::of_elections() {
  switch (prng_.below(5)) {
    case 0: {
      ep::CampaignRequest request;
      const bool too_large = prng_.chance(0.01);
      request.set_name(name());
      request.set_lease(too_large ? lease_ : unknown_lease());
      request.set_value(too_large ? std::string(kTooLargeBytes, 'a') : "x");
      return made("/v3electionpb.Election/Campaign", request);
    }
    case 1:
    case 2: {
      ep::ProclaimRequest request;
      if (prng_.chance(0.8)) *request.mutable_leader() = leader();
      request.set_value(prng_.chance(0.01) ? std::string(kTooLargeBytes, 'a') : "y");
      return made("/v3electionpb.Election/Proclaim", request);
    }
    case 3: {
      ep::LeaderRequest request;
      request.set_name(absl::StrCat("none", name()));
      return made("/v3electionpb.Election/Leader", request);
    }
    default: {
      ep::ResignRequest request;
      if (prng_.chance(0.7)) {
        *request.mutable_leader() = leader();
        // Nobody resigns: the leader stays for the next requests.
        if (request.leader().key() == leader_.key() && request.leader().rev() == leader_.rev()) {
          request.mutable_leader()->set_rev(leader_.rev() - 1);
        }
      }
      return made("/v3electionpb.Election/Resign", request);
    }
  }
}

WrongRequest WrongRequests::unreadable() {
  const std::string path(kPaths[prng_.below(std::size(kPaths))]);
  const std::string bytes(kUnreadable[prng_.below(std::size(kUnreadable))]);
  return {path, bytes, absl::StrCat("bytes ", absl::CHexEscape(bytes)), false};
}

}  // namespace ingot
