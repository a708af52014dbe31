// The control service over real gRPC, on pages that the test writes, and a client of replicas that answers by a script.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/wire.h"
#include "replication/agreement/move_request.h"
#include "services/control/control_service.h"
#include "services/status/status.h"
#include "tests/services/status/pages_in_memory.h"

namespace ingot {

// Answers digest requests by a script, each from its own thread and in no particular order. tests/daemon/digests_test
// tests the real client.
class ScriptedClient final : public ReplicaClient {
 public:
  struct Script {
    ReplicaReply::Outcome outcome;
    std::uint64_t slot, digest;
  };

  ~ScriptedClient() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(RequestKind kind, std::string, Callback callback, EndpointId replica) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, kind, replica, callback = std::move(callback)] {
      const Script script = kind == RequestKind::kDigest ? scripts.at(replica.value()) : Script{};
      std::string payload = WireWriter().u64(script.digest).take();
      if (kind == RequestKind::kMove) payload = encode_move_answer(move_answers.at(replica.value()));
      if (kind == RequestKind::kCommand) ++commands;
      callback({script.outcome, Slot(script.slot), payload});
    });
  }

  std::map<std::uint16_t, Script> scripts;  // a replica without one must not be asked
  std::map<std::uint16_t, absl::Status> move_answers;  // likewise
  std::atomic<unsigned> commands{0};

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class Served {
 public:
  explicit Served(int replicas)
      : pages(replicas), service_(make_control_service(pages.config, pages.view(), client, metrics, gate())) {
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub = control_v1::Control::NewStub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                                      grpc::InsecureChannelCredentials(), arguments));
  }
  ~Served() {
    service_->end_watches();
    server_->Shutdown();
    server_->Wait();
  }
  void end_watches() { service_->end_watches(); }

  PagesInMemory pages;
  ScriptedClient client;
  RequestMetrics metrics;
  std::unique_ptr<control_v1::Control::Stub> stub;
  absl::Status refusal;  // of every call that the gate is asked about; OK: none is refused

 private:
  // The caller is who the client says.
  CallGate gate() {
    const auto may = [this](const grpc::CallbackServerContext&, std::string_view path) {
      const bool known = path == "/ingot.control.v1.Control/Drill" || path == "/ingot.control.v1.Control/Move";
      return known ? refusal : absl::InternalError("the path is not that of a method");
    };
    const auto caller = [](const grpc::CallbackServerContext& context) {
      const auto found = context.client_metadata().find("test-caller");
      return found == context.client_metadata().end() ? "" : std::string(found->second.data(), found->second.size());
    };
    return {may, caller};
  }

  std::unique_ptr<ControlService> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ingot
