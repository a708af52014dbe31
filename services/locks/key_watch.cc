#include "services/locks/key_watch.h"

#include <utility>

#include "absl/strings/str_join.h"

namespace ingot::locks {

namespace pb = etcdserverpb;

grpc::Status KeyWatch::begin(pb::WatchCreateRequest request) {
  if (grpc::Status status = hub_.open(stream_); !status.ok()) return status;
  pb::WatchRequest message;
  *message.mutable_create_request() = std::move(request);
  const std::size_t bytes = message.ByteSizeLong();
  hub_.request(stream_, std::move(message), bytes);
  return grpc::Status::OK;
}

void KeyWatch::send(std::vector<std::string> pieces) {
  pb::WatchResponse response;
  if (!response.ParseFromString(pieces.size() == 1 ? pieces.front() : absl::StrJoin(pieces, ""))) {
    return over_({grpc::StatusCode::INTERNAL, "an answer to a watch could not be read"});
  }
  if (response.created() && response.canceled()) {
    return over_({grpc::StatusCode::RESOURCE_EXHAUSTED, response.cancel_reason()});
  }
  take_(response);
}

}  // namespace ingot::locks
