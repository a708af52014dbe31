#include "services/ingotctl/lease_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/etcd/rpc.grpc.pb.h"
#include "services/ingotctl/render/lease.h"

namespace ingot::inline services_ingotctl {
namespace {

namespace pb = etcdserverpb;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Between two attempts to reach a daemon that does not answer.
constexpr auto kAgainAfter = milliseconds(500);

}  // namespace

absl::Status no_lease(std::int64_t id) {
  return absl::NotFoundError(absl::StrCat("there is no lease ", lease_name(id), ": it has ended, or never was"));
}

absl::StatusOr<pb::LeaseKeepAliveResponse> keep_alive_once(const Connection& connection, std::int64_t id) {
  const auto stub = pb::Lease::NewStub(connection.channel());
  pb::LeaseKeepAliveRequest request;
  request.set_id(id);
  pb::LeaseKeepAliveResponse response;
  bool answered = false;
  const absl::Status status = connection.call([&](grpc::ClientContext* context) {
    const auto stream = stub->LeaseKeepAlive(context);
    stream->Write(request);
    stream->WritesDone();
    answered = stream->Read(&response);
    return stream->Finish();
  });
  if (!status.ok()) return status;
  if (!answered) return absl::UnavailableError("the daemon has ended the stream without an answer");
  if (response.ttl() > 0) return response;
  return no_lease(id);
}

absl::StatusOr<std::unique_ptr<LeaseSession>> LeaseSession::open(const CtlOptions& options,
                                                                 std::chrono::nanoseconds ttl) {
  auto connection = std::make_unique<Connection>(options);
  pb::LeaseGrantRequest request;
  request.set_ttl(std::chrono::ceil<seconds>(ttl).count());
  const auto stub = pb::Lease::NewStub(connection->channel());
  pb::LeaseGrantResponse response;
  const auto asked = Clock::now();
  const absl::Status status =
      connection->call([&](grpc::ClientContext* context) { return stub->LeaseGrant(context, request, &response); });
  if (!status.ok()) return status;
  return std::unique_ptr<LeaseSession>(new LeaseSession(std::move(connection), response.id(), response.ttl(),
                                                        asked + seconds(response.ttl())));
}

LeaseSession::LeaseSession(std::unique_ptr<Connection> connection, std::int64_t lease, std::int64_t ttl_s,
                           Clock::time_point ends)
    : connection_(std::move(connection)),
      lease_(lease),
      ttl_s_(ttl_s),
      ends_(ends),
      thread_([this] { keep_alive(); }) {}

LeaseSession::~LeaseSession() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  pb::LeaseRevokeRequest request;
  request.set_id(lease_);
  const auto stub = pb::Lease::NewStub(connection_->channel());
  pb::LeaseRevokeResponse response;
  connection_->call([&](grpc::ClientContext* context) { return stub->LeaseRevoke(context, request, &response); })
      .IgnoreError();  // without an answer the lease ends by itself
}

bool LeaseSession::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_by_now();
}

// REQUIRES: mutex_ is held.
bool LeaseSession::ended_by_now() const { return ended_ = ended_ || Clock::now() >= ends_; }

// False: the session ends.
bool LeaseSession::pause(milliseconds longest) {
  std::unique_lock lock(mutex_);
  return !stop_.wait_for(lock, longest, [this] { return stopping_; });
}

// A daemon that cannot be reached for a while has not ended the lease: as long as it may live, it is asked again. An
// answer that comes when it may have ended changes nothing: somebody may have acted upon its end.
void LeaseSession::keep_alive() {
  auto wait = milliseconds(1000) * ttl_s_ / 3;
  while (pause(wait)) {
    const auto asked = Clock::now();
    const auto kept = keep_alive_once(*connection_, lease_);
    {
      const std::lock_guard lock(mutex_);
      if (absl::IsNotFound(kept.status())) ended_ = true;
      if (ended_by_now()) return;
      if (kept.ok()) ends_ = asked + seconds(kept->ttl());
    }
    wait = kept.ok() ? milliseconds(1000) * kept->ttl() / 3 : std::min<milliseconds>(kAgainAfter, wait);
  }
}

}  // namespace ingot::services_ingotctl
