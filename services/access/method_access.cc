#include "services/access/method_access.h"

#include <algorithm>
#include <array>

namespace ingot::inline services_access {

namespace {

using enum Needs;

// Rows that several methods share.
constexpr const char* kKeys = "reads and writes keys, which every caller may";
constexpr const char* kShows = "shows the instance's state, and no key";
constexpr const char* kProbe = "changes nothing and shows no key";
constexpr const char* kMembers = "would change which members the cluster has";
constexpr const char* kRights = "would change who may do what";

constexpr MethodAccess open(std::string_view path, std::string_view why) { return {path, kNothing, true, why}; }
constexpr MethodAccess owned(std::string_view path, std::string_view why) { return {path, kOwner, true, why}; }
constexpr MethodAccess later(std::string_view path, Needs needs, std::string_view why) {
  return {path, needs, false, why};
}

constexpr std::array kTable{
    open("/etcdserverpb.KV/Range", kKeys),
    open("/etcdserverpb.KV/Put", kKeys),
    open("/etcdserverpb.KV/DeleteRange", kKeys),
    open("/etcdserverpb.KV/Txn", kKeys),
    open("/etcdserverpb.KV/Compact", "drops old revisions, as programs for etcd do all the time"),

    open("/etcdserverpb.Watch/Watch", kKeys),
    open("/etcdserverpb.Lease/LeaseGrant", kKeys),
    open("/etcdserverpb.Lease/LeaseRevoke", kKeys),
    open("/etcdserverpb.Lease/LeaseKeepAlive", kKeys),
    open("/etcdserverpb.Lease/LeaseTimeToLive", kKeys),
    open("/etcdserverpb.Lease/LeaseLeases", kKeys),

    open("/v3lockpb.Lock/Lock", kKeys),
    open("/v3lockpb.Lock/Unlock", kKeys),
    open("/v3electionpb.Election/Campaign", kKeys),
    open("/v3electionpb.Election/Proclaim", kKeys),
    open("/v3electionpb.Election/Leader", kKeys),
    open("/v3electionpb.Election/Observe", kKeys),
    open("/v3electionpb.Election/Resign", kKeys),

    open("/etcdserverpb.Cluster/MemberList", kShows),
    later("/etcdserverpb.Cluster/MemberAdd", kOwner, kMembers),
    later("/etcdserverpb.Cluster/MemberRemove", kOwner, kMembers),
    later("/etcdserverpb.Cluster/MemberUpdate", kOwner, kMembers),
    later("/etcdserverpb.Cluster/MemberPromote", kOwner, kMembers),

    open("/etcdserverpb.Maintenance/Alarm", "lists alarms, as health checks do; disarming gives no more than a delete"),
    open("/etcdserverpb.Maintenance/Status", kShows),
    open("/etcdserverpb.Maintenance/Defragment", "does nothing here; scheduled jobs call it"),
    open("/etcdserverpb.Maintenance/Hash", kProbe),
    open("/etcdserverpb.Maintenance/HashKV", kProbe),
    open("/etcdserverpb.Maintenance/Snapshot", "reads all keys, which every caller may, a few calls at a time"),
    owned("/etcdserverpb.Maintenance/MoveLeader", "moves a role, as Control's Move does"),
    open("/etcdserverpb.Maintenance/Downgrade", "does nothing here"),

    later("/etcdserverpb.Auth/AuthEnable", kOwner, kRights),
    later("/etcdserverpb.Auth/AuthDisable", kOwner, kRights),
    open("/etcdserverpb.Auth/AuthStatus", kShows),
    later("/etcdserverpb.Auth/Authenticate", kNothing, "is how a caller would show who it is"),
    later("/etcdserverpb.Auth/UserAdd", kOwner, kRights),
    later("/etcdserverpb.Auth/UserGet", kOwner, kRights),
    later("/etcdserverpb.Auth/UserList", kOwner, kRights),
    later("/etcdserverpb.Auth/UserDelete", kOwner, kRights),
    later("/etcdserverpb.Auth/UserChangePassword", kOwner, kRights),
    later("/etcdserverpb.Auth/UserGrantRole", kOwner, kRights),
    later("/etcdserverpb.Auth/UserRevokeRole", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleAdd", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleGet", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleList", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleDelete", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleGrantPermission", kOwner, kRights),
    later("/etcdserverpb.Auth/RoleRevokePermission", kOwner, kRights),

    open("/ingot.control.v1.Control/GetStatus", kShows),
    open("/ingot.control.v1.Control/GetTopology", kShows),
    open("/ingot.control.v1.Control/WatchStatus", kShows),
    open("/ingot.control.v1.Control/GetDigests", kProbe),
    owned("/ingot.control.v1.Control/Drill", "kills and stops processes: all keys are gone if all of them die"),
    owned("/ingot.control.v1.Control/Move", "moves a role: requests wait meanwhile, and again at each call"),
    open("/ingot.control.v1.Scc/GetChip", kShows),

    open("/grpc.health.v1.Health/Check", kProbe),
    open("/grpc.health.v1.Health/Watch", kProbe),
    open("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", kProbe),
};

}  // namespace

std::span<const MethodAccess> method_accesses() { return kTable; }

// The few rows of this kind are compared one after the other; most paths differ from each in their length.
bool needs_owner(std::string_view path) {
  static constexpr auto kOwned = [] {
    constexpr auto is_owned = [](const MethodAccess& each) { return each.needs == kOwner && each.carried_out; };
    std::array<std::string_view, std::count_if(kTable.begin(), kTable.end(), is_owned)> owned{};
    std::size_t next = 0;
    for (const MethodAccess& each : kTable) {
      if (is_owned(each)) owned[next++] = each.path;
    }
    return owned;
  }();
  return std::find(kOwned.begin(), kOwned.end(), path) != kOwned.end();
}

}  // namespace ingot::services_access
