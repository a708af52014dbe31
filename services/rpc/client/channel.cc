#include "services/rpc/client/channel.h"

#include <utility>

#include "services/rpc/client/channel_core.h"

namespace ingot::rpc::client {

Channel::Channel(boost::asio::io_context& io, Target target, ChannelOptions options)
    : core_(std::make_shared<Core>(io, std::move(target), options)) {
  core_->open();
}

Channel::~Channel() { core_->close(); }

bool Channel::connected() const { return core_->connected(); }

CallId Channel::start(const std::string& path, const google::protobuf::MessageLite& request, const CallOptions& options,
                      Receiver& receiver) {
  return core_->start(path, request, options, receiver);
}

void Channel::cancel(CallId call) { core_->cancel(call); }

}  // namespace ingot::rpc::client
