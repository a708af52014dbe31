#include "services/etcd/json_paths.h"

#include <google/protobuf/empty.pb.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/etcd/election.pb.h"
#include "proto/etcd/lock.pb.h"
#include "proto/etcd/rpc.pb.h"

namespace ingot::etcd {
namespace {

struct Row {
  const char* path;     // behind the version
  const char* service;  // with its package
  const char* method;
};

constexpr const char* kKv = "etcdserverpb.KV";
constexpr const char* kWatch = "etcdserverpb.Watch";
constexpr const char* kLease = "etcdserverpb.Lease";
constexpr const char* kCluster = "etcdserverpb.Cluster";
constexpr const char* kMaintenance = "etcdserverpb.Maintenance";
constexpr const char* kAuth = "etcdserverpb.Auth";
constexpr const char* kLock = "v3lockpb.Lock";
constexpr const char* kElection = "v3electionpb.Election";

// As the options of etcd's .proto files have them.
constexpr Row kRows[] = {
    {"kv/range", kKv, "Range"},
    {"kv/put", kKv, "Put"},
    {"kv/deleterange", kKv, "DeleteRange"},
    {"kv/txn", kKv, "Txn"},
    {"kv/compaction", kKv, "Compact"},
    {"watch", kWatch, "Watch"},
    {"lease/grant", kLease, "LeaseGrant"},
    {"lease/revoke", kLease, "LeaseRevoke"},
    {"kv/lease/revoke", kLease, "LeaseRevoke"},
    {"lease/keepalive", kLease, "LeaseKeepAlive"},
    {"lease/timetolive", kLease, "LeaseTimeToLive"},
    {"kv/lease/timetolive", kLease, "LeaseTimeToLive"},
    {"lease/leases", kLease, "LeaseLeases"},
    {"kv/lease/leases", kLease, "LeaseLeases"},
    {"cluster/member/add", kCluster, "MemberAdd"},
    {"cluster/member/remove", kCluster, "MemberRemove"},
    {"cluster/member/update", kCluster, "MemberUpdate"},
    {"cluster/member/list", kCluster, "MemberList"},
    {"cluster/member/promote", kCluster, "MemberPromote"},
    {"maintenance/alarm", kMaintenance, "Alarm"},
    {"maintenance/status", kMaintenance, "Status"},
    {"maintenance/defragment", kMaintenance, "Defragment"},
    {"maintenance/hash", kMaintenance, "Hash"},
    {"maintenance/hashkv", kMaintenance, "HashKV"},
    {"maintenance/snapshot", kMaintenance, "Snapshot"},
    {"maintenance/transfer-leadership", kMaintenance, "MoveLeader"},
    {"maintenance/downgrade", kMaintenance, "Downgrade"},
    {"auth/enable", kAuth, "AuthEnable"},
    {"auth/disable", kAuth, "AuthDisable"},
    {"auth/status", kAuth, "AuthStatus"},
    {"auth/authenticate", kAuth, "Authenticate"},
    {"auth/user/add", kAuth, "UserAdd"},
    {"auth/user/get", kAuth, "UserGet"},
    {"auth/user/list", kAuth, "UserList"},
    {"auth/user/delete", kAuth, "UserDelete"},
    {"auth/user/changepw", kAuth, "UserChangePassword"},
    {"auth/user/grant", kAuth, "UserGrantRole"},
    {"auth/user/revoke", kAuth, "UserRevokeRole"},
    {"auth/role/add", kAuth, "RoleAdd"},
    {"auth/role/get", kAuth, "RoleGet"},
    {"auth/role/list", kAuth, "RoleList"},
    {"auth/role/delete", kAuth, "RoleDelete"},
    {"auth/role/grant", kAuth, "RoleGrantPermission"},
    {"auth/role/revoke", kAuth, "RoleRevokePermission"},
    {"lock/lock", kLock, "Lock"},
    {"lock/unlock", kLock, "Unlock"},
    {"election/campaign", kElection, "Campaign"},
    {"election/proclaim", kElection, "Proclaim"},
    {"election/leader", kElection, "Leader"},
    {"election/observe", kElection, "Observe"},
    {"election/resign", kElection, "Resign"},
};

rpc::JsonMethod method_of(const Row& row) {
  rpc::JsonMethod made;
  made.path = absl::StrCat("/", row.service, "/", row.method);
  made.request = made.response = google::protobuf::Empty::descriptor();
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  const auto* method = pool->FindMethodByName(absl::StrCat(row.service, ".", row.method));
  if (method == nullptr) return made;
  made.request = method->input_type();
  made.response = method->output_type();
  made.one_request = !method->client_streaming();
  made.one_response = !method->server_streaming();
  return made;
}

}  // namespace

void add_json_paths(rpc::Methods& methods) {
  etcdserverpb::RangeRequest::descriptor();  // these link the definitions
  v3lockpb::LockRequest::descriptor();
  v3electionpb::LeaderRequest::descriptor();
  for (const Row& row : kRows) {
    for (const char* version : {"/v3/", "/v3beta/"}) methods.add_json(absl::StrCat(version, row.path), method_of(row));
  }
}

}  // namespace ingot::etcd
