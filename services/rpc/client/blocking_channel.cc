#include "services/rpc/client/blocking_channel.h"

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

namespace ingot::rpc::client {
namespace {

class Answered final : public Receiver {
 public:
  explicit Answered(google::protobuf::MessageLite& reply) : reply_(reply) {}

  void answered(const grpc::Status& status, std::string_view message) override {
    status_ = status;
    if (status.ok() && !reply_.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      status_ = {grpc::StatusCode::INTERNAL, "the answer is not the message that the method promises"};
    }
  }
  const std::optional<grpc::Status>& status() const { return status_; }

 private:
  google::protobuf::MessageLite& reply_;
  std::optional<grpc::Status> status_;
};

}  // namespace

struct BlockingChannel::Parts {
  Parts(Target target, ChannelOptions options) : channel(io, std::move(target), options) {}

  boost::asio::io_context io{1};
  Channel channel;
};

BlockingChannel::BlockingChannel(Target target, ChannelOptions options)
    : parts_(std::make_unique<Parts>(std::move(target), options)) {}

BlockingChannel::~BlockingChannel() = default;

bool BlockingChannel::connect(std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  parts_->io.poll();
  while (!parts_->channel.connected() && std::chrono::steady_clock::now() < deadline) {
    parts_->io.run_one_until(deadline);
  }
  return parts_->channel.connected();
}

grpc::Status BlockingChannel::call(const std::string& path, const google::protobuf::MessageLite& request,
                                   google::protobuf::MessageLite& reply, const Channel::CallOptions& options) {
  parts_->io.poll();  // what came since the last call, such as the connection's end
  Answered answer(reply);
  parts_->channel.start(path, request, options, answer);
  while (!answer.status()) parts_->io.run_one();
  return *answer.status();
}

}  // namespace ingot::rpc::client
