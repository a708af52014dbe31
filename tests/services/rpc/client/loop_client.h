// A channel on a loop of the test's, and receivers that keep what they hear.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "services/rpc/client/channel.h"

namespace ingot::rpc::client {

// Hears of one call's end. Does not move.
class Heard final : public Receiver {
 public:
  explicit Heard(std::function<void()> then = [] {}) : then_(std::move(then)) {}

  void answered(const grpc::Status& status, std::string_view message) override {
    INGOT_CHECK(!status_, "a call ends once");
    status_ = status;
    message_ = message;
    then_();
  }

  bool over() const { return status_.has_value(); }
  const grpc::Status& status() const { return *status_; }
  const std::string& message() const { return message_; }

 private:
  std::function<void()> then_;
  std::optional<grpc::Status> status_;
  std::string message_;
};

class LoopClient {
 public:
  explicit LoopClient(const std::string& address, ChannelOptions options = {})
      : channel_(io_, *resolve_target(address), options) {}

  Channel& channel() { return channel_; }

  // Runs the loop until the condition holds, which another thread may bring about.
  void run_until(const std::function<bool()>& condition) {
    while (!condition()) io_.run_one_for(std::chrono::milliseconds(1));
  }
  void run_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) io_.run_one_until(end);
  }
  void connect() {
    run_until([&] { return channel_.connected(); });
  }

  // Calls, and runs the loop until the end.
  const Heard& call(const std::string& path, const google::protobuf::MessageLite& request,
                    const Channel::CallOptions& options = {}) {
    last_.emplace();
    channel_.start(path, request, options, *last_);
    run_until([&] { return last_->over(); });
    return *last_;
  }

 private:
  boost::asio::io_context io_{1};
  Channel channel_;
  std::optional<Heard> last_;
};

}  // namespace ingot::rpc::client
