// A loop's server that passes every call on to a gRPC C++ server with methods for tests, and a client of gRPC C++.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "core/check.h"
#include "services/access/caller_codec.h"
#include "services/rpc/loop/asio_waiter.h"
#include "services/rpc/passing/passing.h"
#include "services/rpc/server/server.h"
#include "services/sockets/tcp_listener.h"
#include "transport/host/event_loop.h"
#include "transport/host/loop_tasks.h"

namespace ingot::rpc {

inline grpc::ByteBuffer buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string text(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  INGOT_CHECK(bytes.Dump(&slices).ok());
  std::string all;
  for (const grpc::Slice& slice : slices) all.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return all;
}

template <typename Condition>
void wait_until(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The methods of the inner server, by the last part of their names:
//   Echo     answers each message with itself, sends and repeats metadata, ends when the client sends no more
//   Caller   answers with the address that was passed on, and "," and the value of the metadata "x-test"
//   Fail     ends with DATA_LOSS, a text and details
//   Wait     ends when it is cancelled
//   Pour     sends messages of kPouredBytes for ever, as fast as they are taken
//   Left     answers with the milliseconds that its deadline leaves
class TestMethods final : public grpc::CallbackGenericService {
 public:
  static constexpr std::size_t kPouredBytes = 64 * 1024;

  std::atomic<int> begun{0};
  std::atomic<int> asked{0};  // of them: Caller
  std::atomic<int> cancelled{0};
  std::atomic<int> poured{0};

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    auto* const reactor = new Reactor(*this, *context);
    ++begun;
    return reactor;
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(TestMethods& methods, grpc::GenericCallbackServerContext& context)
        : methods_(methods), context_(context), name_(context.method().substr(context.method().rfind('/') + 1)) {
      if (name_ == "Echo") {
        context.AddInitialMetadata("x-initial", "first");
        context.AddInitialMetadata("x-initial-bin", std::string("\x00\x01\xff", 3));
        context.AddTrailingMetadata("x-trailing", metadata("x-test"));
        StartSendInitialMetadata();
        StartRead(&in_);
      } else if (name_ == "Caller") {
        ++methods.asked;
        StartRead(&in_);
      } else if (name_ == "Fail") {
        Finish({grpc::StatusCode::DATA_LOSS, "lost: 100 % of \xc3\xbc", std::string("details\x00\x01", 9)});
      } else if (name_ == "Left") {
        StartRead(&in_);
      } else if (name_ == "Pour") {
        pour();
      }
    }

    void OnReadDone(bool ok) override {
      // Not before the client has sent all: it could not write to a call that is over.
      if (name_ == "Caller" || name_ == "Left") return ok ? StartRead(&in_) : answer();
      if (!ok) return Finish(grpc::Status::OK);
      out_ = in_;
      StartWrite(&out_);
    }
    void OnWriteDone(bool ok) override {
      if (name_ == "Echo") StartRead(&in_);
      if (name_ == "Pour" && ok) pour();
    }
    void OnCancel() override {
      ++methods_.cancelled;
      if (name_ == "Wait" || name_ == "Pour") Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    std::string metadata(const std::string& name) const {
      const auto found = context_.client_metadata().find(name);
      if (found == context_.client_metadata().end()) return "";
      return {found->second.data(), found->second.size()};
    }
    void answer() {
      if (name_ == "Caller") {
        const auto caller = decode_caller(metadata(kCallerKey));
        out_ = buffer((caller ? caller->address : "none") + "," + metadata("x-test"));
      } else {
        const auto left = context_.deadline() - std::chrono::system_clock::now();
        out_ = buffer(std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
      }
      StartWriteAndFinish(&out_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void pour() {
      ++methods_.poured;
      out_ = buffer(std::string(kPouredBytes, 'p'));
      StartWrite(&out_);
    }

    TestMethods& methods_;
    grpc::GenericCallbackServerContext& context_;
    const std::string name_;
    grpc::ByteBuffer in_, out_;
  };
};

// The server on a loop in a thread of its own.
class PassingServer {
 public:
  PassingServer() {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&methods);
    inner_ = builder.BuildAndStart();
    INGOT_CHECK(inner_ != nullptr);
    loop_ = *EventLoop::create(WaitOptions::shared_core(), {}, std::make_unique<AsioWaiter>(io_));
    tasks_ = *LoopTasks::create();
    passing_ = std::make_unique<Passing>(inner_->InProcessChannel({}), *tasks_, budget,
                                         [this](std::size_t bytes) { freed_bytes += bytes; });
    served_.set_fallback([this](Call call, std::string_view path) { return passing_->begin(call, path); });
    Server::Options options;
    options.methods = &served_;
    server_ = std::make_unique<Server>(io_, std::move(options));
    address = "127.0.0.1:0";
    auto listener = claim_listen_address(address, "--listen");
    INGOT_CHECK(listener.ok());
    INGOT_CHECK(server_->listen(*std::move(listener), Caller::Door::kTcp).ok());
    loop_->add(*server_);
    loop_->add(*passing_);
    tasks_->attach(*loop_);
    loop_->at_round_end([this] { server_->flush(); });
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~PassingServer() { end(); }

  void drain() {
    tasks_->post([this] { passing_->drain(); });
  }

  // The loop ends, then its calls.
  void end() {
    if (!thread_.joinable()) return;
    loop_->stop();
    thread_.join();
    passing_.reset();
    server_.reset();
    inner_->Shutdown();
  }

  // A new connection.
  std::shared_ptr<grpc::Channel> connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  // Likewise, for bytes by hand.
  Descriptor connect_raw() const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    INGOT_CHECK(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    INGOT_CHECK(::fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0);
    return socket;
  }

  TestMethods methods;
  PassedCalls budget;
  std::atomic<std::size_t> freed_bytes{0};  // as the calls that have ended say
  std::string address;

 private:
  std::unique_ptr<grpc::Server> inner_;
  boost::asio::io_context io_{1};
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<LoopTasks> tasks_;
  std::unique_ptr<Passing> passing_;
  Methods served_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// A call of a test method, step by step. Each step waits for its end.
class TestCall {
 public:
  TestCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
           std::vector<std::pair<std::string, std::string>> metadata = {}, int timeout_ms = 0)
      : stub_(channel) {
    for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
    if (timeout_ms > 0) context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms));
    call_ = stub_.PrepareCall(&context, "/test.Test/" + method, &queue_);
    call_->StartCall(nullptr);
    step();
  }
  ~TestCall() {
    context.TryCancel();
    if (!finished_) finish();
  }

  bool write(const std::string& message) {
    call_->Write(buffer(message), nullptr);
    return step();
  }
  bool writes_done() {
    call_->WritesDone(nullptr);
    return step();
  }
  bool read(std::string& message) {
    grpc::ByteBuffer answer;
    call_->Read(&answer, nullptr);
    if (!step()) return false;
    message = text(answer);
    return true;
  }
  grpc::Status finish() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    step();
    finished_ = true;
    return status;
  }
  // One message there, and one back.
  std::string exchange(const std::string& message) {
    std::string answer;
    REQUIRE(write(message));
    REQUIRE(writes_done());
    REQUIRE(read(answer));
    REQUIRE(finish().ok());
    return answer;
  }

  grpc::ClientContext context;

 private:
  bool step() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

}  // namespace ingot::rpc
