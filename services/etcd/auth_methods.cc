#include "services/etcd/auth_methods.h"

#include <cstdint>

#include "services/etcd/errors.h"
#include "services/etcd/unary.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;

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

void AuthMethods::add_to(rpc::Methods& methods) {
  const UnaryMethods unary(methods, "/etcdserverpb.Auth/", metrics_, *this);
  unary.add("AuthStatus", Method::kOther, &AuthMethods::status);
#define INGOT_X(method, message) unary.add(#method, Method::kOther, &AuthMethods::refuse<pb::message##Request>);
  INGOT_AUTH_CALLS(INGOT_X)
#undef INGOT_X
}

void AuthMethods::status(const LoopCall& call, const pb::AuthStatusRequest&) {
  pb::AuthStatusResponse response;
  header_.fill_with_revision(response.mutable_header());
  response.set_authrevision(1);  // etcd's, as long as nothing about users has changed
  call.answer(response);
}

template <typename Request>
void AuthMethods::refuse(const LoopCall& call, const Request&) {
  call.finish(to_status(Error::kAuthNotEnabled));
}

}  // namespace ingot::etcd
