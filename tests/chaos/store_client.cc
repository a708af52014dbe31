#include "tests/chaos/store_client.h"

#include <charconv>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace ingot::chaos {
namespace {

constexpr auto kRequestTimeout = std::chrono::seconds(10);  // longer than the daemon's own

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // a request sent twice would be recorded once
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return arguments;
}

// The value of a key in an answer.
std::uint32_t value_in(const etcdserverpb::RangeResponse& reply) {
  if (reply.kvs_size() == 0) return 0;
  const std::string& text = reply.kvs(0).value();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : kNobodysValue;
}

}  // namespace

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& endpoint) {
  return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), channel_arguments());
}

StoreClient::StoreClient(const std::string& endpoint)
    : channel_(channel_to(endpoint)), stub_(etcdserverpb::KV::NewStub(channel_)) {}

bool StoreClient::connected(std::chrono::milliseconds patience) {
  return channel_->WaitForConnected(std::chrono::system_clock::now() + patience);
}

load::Outcome StoreClient::carry_out(Recorded& operation) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRequestTimeout);
  operation.called_ns = now_ns();
  const grpc::Status status = operation.kind == Recorded::Kind::kGet   ? get(operation, context)
                              : operation.kind == Recorded::Kind::kPut ? put(operation, context)
                                                                       : cas(operation, context);
  const load::Outcome outcome = load::outcome_of(status);
  if (outcome == load::Outcome::kAcknowledged) operation.answered_ns = now_ns();
  else last_error_ = status.error_message();
  return outcome;
}

grpc::Status StoreClient::get(Recorded& operation, grpc::ClientContext& context) {
  etcdserverpb::RangeRequest request;
  etcdserverpb::RangeResponse reply;
  request.set_key(operation.key);
  const grpc::Status status = stub_->Range(&context, request, &reply);
  operation.found = value_in(reply);
  operation.revision = reply.header().revision();
  return status;
}

grpc::Status StoreClient::put(Recorded& operation, grpc::ClientContext& context) {
  etcdserverpb::PutRequest request;
  etcdserverpb::PutResponse reply;
  request.set_key(operation.key);
  request.set_value(std::to_string(operation.written));
  const grpc::Status status = stub_->Put(&context, request, &reply);
  operation.revision = reply.header().revision();
  return status;
}

grpc::Status StoreClient::cas(Recorded& operation, grpc::ClientContext& context) {
  etcdserverpb::TxnRequest request;
  etcdserverpb::TxnResponse reply;
  auto* compare = request.add_compare();
  compare->set_key(operation.key);
  if (operation.expected == 0) {
    compare->set_target(etcdserverpb::Compare::CREATE);
    compare->set_create_revision(0);
  } else {
    compare->set_target(etcdserverpb::Compare::VALUE);
    compare->set_value(std::to_string(operation.expected));
  }
  auto* write = request.add_success()->mutable_request_put();
  write->set_key(operation.key);
  write->set_value(std::to_string(operation.written));
  request.add_failure()->mutable_request_range()->set_key(operation.key);
  const grpc::Status status = stub_->Txn(&context, request, &reply);
  operation.succeeded = reply.succeeded();
  if (!reply.succeeded() && reply.responses_size() == 1)
    operation.found = value_in(reply.responses(0).response_range());
  operation.revision = reply.header().revision();
  return status;
}

std::optional<StoreClient::Version> StoreClient::look_up(const std::string& key, std::int64_t revision) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRequestTimeout);
  etcdserverpb::RangeRequest request;
  etcdserverpb::RangeResponse reply;
  request.set_key(key);
  request.set_revision(revision);
  const grpc::Status status = stub_->Range(&context, request, &reply);
  if (!status.ok()) {
    last_error_ = status.error_message();
    return std::nullopt;
  }
  return Version{value_in(reply), reply.kvs_size() == 0 ? 0 : reply.kvs(0).mod_revision()};
}

}  // namespace ingot::chaos
