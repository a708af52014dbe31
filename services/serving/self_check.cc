#include "services/serving/self_check.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <grpcpp/channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace ingot::inline services_serving {

namespace {

constexpr const char* kHealthCheck = "/grpc.health.v1.Health/Check";

// One request. Its message is empty: it asks for the health of the whole server.
struct Call {
  grpc::ClientContext context;
  grpc::ByteBuffer request{nullptr, 0};
  grpc::ByteBuffer answer;
};

// A refusal for want of room is one, too: else clients that hold all places for passed-on calls could have the process
// killed. A service that hangs is noticed all the same: the question that it has got stays open.
bool is_answer(const grpc::Status& status) {
  return status.ok() || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
}

}  // namespace

struct SelfCheck::Shared {
  std::vector<std::shared_ptr<grpc::Channel>> channels;  // constant
  absl::Mutex mutex;
  std::size_t unanswered ABSL_GUARDED_BY(mutex) = 0;  // of the last question
  bool failed ABSL_GUARDED_BY(mutex) = false;         // a server has answered it with an error
  std::function<void()> answered ABSL_GUARDED_BY(mutex);  // null once the SelfCheck is gone

  void note(bool ok) {
    absl::MutexLock lock(&mutex);
    failed = failed || !ok;
    if (--unanswered == 0 && !failed && answered) answered();
  }
};

absl::StatusOr<std::unique_ptr<SelfCheck>> SelfCheck::create(const std::vector<Connect>& servers,
                                                             std::function<void()> answered) {
  auto shared = std::make_shared<Shared>();
  for (const Connect& connect : servers) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot connect to the own server: ", std::strerror(errno)));
    }
    connect(Descriptor(ends[0]));
    shared->channels.push_back(grpc::CreateInsecureChannelFromFd("self-check", ends[1]));  // which closes its end
  }
  {
    absl::MutexLock lock(&shared->mutex);
    shared->answered = std::move(answered);
  }
  return std::unique_ptr<SelfCheck>(new SelfCheck(std::move(shared)));
}

SelfCheck::~SelfCheck() {
  absl::MutexLock lock(&shared_->mutex);
  shared_->answered = nullptr;
}

void SelfCheck::ask() {
  {
    absl::MutexLock lock(&shared_->mutex);
    if (shared_->unanswered > 0) return;
    shared_->unanswered = shared_->channels.size();
    shared_->failed = false;
  }
  for (const auto& channel : shared_->channels) {
    auto call = std::make_shared<Call>();
    grpc::GenericStub stub(channel);
    stub.UnaryCall(&call->context, kHealthCheck, grpc::StubOptions(), &call->request, &call->answer,
                   [call, shared = shared_](const grpc::Status& status) { shared->note(is_answer(status)); });
  }
}

}  // namespace ingot::services_serving
