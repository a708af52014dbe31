#include "services/serving/self_check.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server_posix.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace ingot {

namespace {

constexpr const char* kHealthCheck = "/grpc.health.v1.Health/Check";

// One request. Its message is empty: it asks for the health of the whole server.
struct Call {
  grpc::ClientContext context;
  grpc::ByteBuffer request{nullptr, 0};
  grpc::ByteBuffer answer;
};

}  // namespace

struct SelfCheck::Shared {
  absl::Mutex mutex;
  bool asking ABSL_GUARDED_BY(mutex) = false;
  std::function<void()> answered ABSL_GUARDED_BY(mutex);  // null once the SelfCheck is gone
};

absl::StatusOr<std::unique_ptr<SelfCheck>> SelfCheck::create(grpc::Server& server, std::function<void()> answered) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot connect to the own server: ", std::strerror(errno)));
  }
  grpc::AddInsecureChannelFromFd(&server, ends[0]);  // server and channel close their ends
  return std::unique_ptr<SelfCheck>(
      new SelfCheck(grpc::CreateInsecureChannelFromFd("self-check", ends[1]), std::move(answered)));
}

SelfCheck::SelfCheck(std::shared_ptr<grpc::Channel> channel, std::function<void()> answered)
    : channel_(std::move(channel)), shared_(std::make_shared<Shared>()) {
  absl::MutexLock lock(&shared_->mutex);
  shared_->answered = std::move(answered);
}

SelfCheck::~SelfCheck() {
  absl::MutexLock lock(&shared_->mutex);
  shared_->answered = nullptr;
}

void SelfCheck::ask() {
  {
    absl::MutexLock lock(&shared_->mutex);
    if (std::exchange(shared_->asking, true)) return;
  }
  auto call = std::make_shared<Call>();
  grpc::GenericStub stub(channel_);
  stub.UnaryCall(&call->context, kHealthCheck, grpc::StubOptions(), &call->request, &call->answer,
                 [call, shared = shared_](const grpc::Status& status) {
                   absl::MutexLock lock(&shared->mutex);
                   shared->asking = false;
                   if (status.ok() && shared->answered) shared->answered();
                 });
}

}  // namespace ingot
