// etcdserverpb.Auth. An instance has no users and no roles; etcd's clients get the error "not enabled".
#include "proto/etcd/rpc.grpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/etcd/call.h"
#include "services/etcd/errors.h"
#include "services/etcd/header.h"
#include "services/etcd/services.h"

namespace ingot::etcd {
namespace {

namespace pb = etcdserverpb;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

// Every call but AuthStatus: X(method, name of its messages without Request and Response).
#define INGOT_AUTH_CALLS(X)                                      \
  X(AuthEnable, AuthEnable)                                      \
  X(AuthDisable, AuthDisable)                                    \
  X(Authenticate, Authenticate)                                  \
  X(UserAdd, AuthUserAdd)                                        \
  X(UserGet, AuthUserGet)                                        \
  X(UserList, AuthUserList)                                      \
  X(UserDelete, AuthUserDelete)                                  \
  X(UserChangePassword, AuthUserChangePassword)                  \
  X(UserGrantRole, AuthUserGrantRole)                            \
  X(UserRevokeRole, AuthUserRevokeRole)                          \
  X(RoleAdd, AuthRoleAdd)                                        \
  X(RoleGet, AuthRoleGet)                                        \
  X(RoleList, AuthRoleList)                                      \
  X(RoleDelete, AuthRoleDelete)                                  \
  X(RoleGrantPermission, AuthRoleGrantPermission)                \
  X(RoleRevokePermission, AuthRoleRevokePermission)

class AuthService final : public pb::Auth::CallbackService {
 public:
  AuthService(const DaemonConfig& config, const InstanceView& view, RequestMetrics& metrics)
      : header_(config, view), metrics_(metrics) {}

  Reactor* AuthStatus(Context* context, const pb::AuthStatusRequest*, pb::AuthStatusResponse* out) override {
    header_.fill_with_revision(out->mutable_header());
    out->set_authrevision(1);  // etcd's, as long as nothing about users has changed
    return Call(context, metrics_, Method::kOther).finish(grpc::Status::OK);
  }

#define INGOT_X(method, message)                                                                           \
  Reactor* method(Context* context, const pb::message##Request*, pb::message##Response*) override {        \
    return Call(context, metrics_, Method::kOther).finish(to_status(Error::kAuthNotEnabled));              \
  }
  INGOT_AUTH_CALLS(INGOT_X)
#undef INGOT_X

 private:
  const HeaderSource header_;
  RequestMetrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_auth_service(const DaemonConfig& config, const InstanceView& view,
                                                 RequestMetrics& metrics) {
  return std::make_unique<AuthService>(config, view, metrics);
}

}  // namespace ingot::etcd
