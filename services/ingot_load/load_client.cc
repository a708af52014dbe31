#include "services/ingot_load/load_client.h"

#include "services/ingot_load/methods.h"

namespace ingot::load {

void LoadClient::start_put(std::chrono::nanoseconds timeout) {
  channel_.start(kPutPath, put, {.timeout = timeout}, *this);
}

void LoadClient::start_range(std::chrono::nanoseconds timeout) {
  channel_.start(kRangePath, range, {.timeout = timeout}, *this);
}

void LoadClient::start_pause(std::chrono::milliseconds pause) {
  pause_.expires_after(pause);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) owner_.paused(*this);
  });
}

void LoadClient::answered(const grpc::Status& answer, std::string_view message) {
  status = answer;
  if (answer.ok()) {
    google::protobuf::MessageLite& reply =
        reading ? static_cast<google::protobuf::MessageLite&>(range_reply) : put_reply;
    const bool parsed = reply.ParseFromArray(message.data(), static_cast<int>(message.size()));
    if (!parsed) status = {grpc::StatusCode::INTERNAL, "the answer is not the message that the method promises"};
  }
  owner_.answered(*this);
}

}  // namespace ingot::load
