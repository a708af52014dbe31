#include "tests/fuzz/client_ordinary.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::fuzz {
namespace {

namespace pb = etcdserverpb;

constexpr const char* kKey = "o";

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "the ordinary client: %s\n", what.c_str());
  std::_Exit(1);
}

void require(const grpc::Status& status, const char* what) {
  if (!status.ok()) fail(absl::StrCat(what, " has error ", status.error_code(), ": ", status.error_message()));
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

OrdinaryClient::OrdinaryClient(const std::string& endpoint)
    : channel_(channel_to(endpoint)),
      kv_(pb::KV::NewStub(channel_)),
      watches_(pb::Watch::NewStub(channel_)),
      thread_([this] { run(); }) {}

OrdinaryClient::~OrdinaryClient() {
  ending_ = true;
  thread_.join();
}

void OrdinaryClient::run() {
  watching_ = watch();
  while (!ending_) round();
  end(std::move(watching_));
  compact();
}

void OrdinaryClient::round() {
  value_ = absl::StrCat(rounds_ + 1, " ", std::string(value_bytes_, 'o'));
  put();
  get();
  end(watch());
  hear();
  ++rounds_;
}

void OrdinaryClient::put() {
  waits_for_ = "its put";
  grpc::ClientContext context;
  pb::PutRequest request;
  request.set_key(kKey);
  request.set_value(value_);
  pb::PutResponse response;
  require(kv_->Put(&context, request, &response), "its put");
  if (response.header().revision() <= revision_) fail("its put has no revision of its own");
  revision_ = response.header().revision();
}

void OrdinaryClient::get() {
  waits_for_ = "its get";
  grpc::ClientContext context;
  pb::RangeRequest request;
  request.set_key(kKey);
  pb::RangeResponse response;
  require(kv_->Range(&context, request, &response), "its get");
  if (response.kvs_size() != 1) fail("what it has put is not there");
  if (response.kvs(0).value() != value_) fail("its get has another value than it has put");
  if (response.kvs(0).mod_revision() != revision_) fail("its get has another revision than its put");
}

std::unique_ptr<OrdinaryClient::Watching> OrdinaryClient::watch() {
  waits_for_ = "a new watch";
  auto watching = std::make_unique<Watching>();
  watching->stream = watches_->Watch(&watching->context);
  pb::WatchRequest request;
  request.mutable_create_request()->set_key(kKey);
  pb::WatchResponse response;
  if (!watching->stream->Write(request) || !watching->stream->Read(&response)) {
    require(watching->stream->Finish(), "a new watch");
    fail("a new watch's stream has ended");
  }
  if (!response.created() || response.canceled()) fail("a new watch was refused: " + response.cancel_reason());
  return watching;
}

void OrdinaryClient::end(std::unique_ptr<Watching> watching) {
  watching->context.TryCancel();
  watching->stream->Finish();
}

// A watch that a compaction has overtaken says so, and is asked for again: its event is one of the past then.
void OrdinaryClient::hear() {
  waits_for_ = "its watch's event";
  for (pb::WatchResponse response;;) {
    if (!watching_->stream->Read(&response)) {
      require(watching_->stream->Finish(), "its watch");
      fail("its watch's stream has ended");
    }
    if (response.compact_revision() > 0) {
      end(std::exchange(watching_, watch()));
      return;
    }
    if (response.canceled()) fail("its watch was canceled: " + response.cancel_reason());
    for (const auto& event : response.events()) {
      if (event.kv().mod_revision() > revision_) fail("its watch has an event of a put that nobody has made");
      if (event.kv().mod_revision() < revision_) continue;
      if (event.kv().value() != value_) fail("its watch has another value than it has put");
      return;
    }
  }
}

// So many schedules on one server do not fill it.
void OrdinaryClient::compact() {
  waits_for_ = "its compaction";
  grpc::ClientContext context;
  pb::CompactionRequest request;
  request.set_revision(revision_);
  pb::CompactionResponse response;
  const grpc::Status status = kv_->Compact(&context, request, &response);
  if (status.error_code() != grpc::StatusCode::OUT_OF_RANGE) require(status, "its compaction");  // others did so later
}

}  // namespace ingot::fuzz
