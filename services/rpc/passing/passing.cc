#include "services/rpc/passing/passing.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/rpc/passing/inner_call.h"
#include "services/rpc/passing/limits.h"

namespace ingot::rpc {

namespace {

// Of a call that is over before it was passed on.
class NoHandler final : public StreamHandler {
 public:
  void message(std::string_view) override {}
  void half_closed() override {}
  void writable() override {}
};

std::unique_ptr<StreamHandler> refuse(const Call& caller, const std::string& why) {
  caller.finish({grpc::StatusCode::RESOURCE_EXHAUSTED, why});
  return std::make_unique<NoHandler>();
}

}  // namespace

Passing::Passing(std::shared_ptr<grpc::Channel> channel, LoopTasks& loop, PassedCalls& budget)
    : stub_(std::move(channel)), loop_(loop), budget_(budget) {}

Passing::~Passing() {
  for (const auto& [call, owned] : calls_) call->cancel();
  while (!calls_.empty()) {
    loop_.wait();
    loop_.poll(0);
  }
}

std::unique_ptr<StreamHandler> Passing::begin(Call caller, std::string_view path) {
  const Caller from = caller.caller();
  int& open = of_caller_[from.address];
  if (open >= kPassedCallsPerCallerMax) {
    return refuse(caller, absl::StrCat(open, " calls of this kind are open from here, which is the most; end some"));
  }
  if (!budget_.enter(from.door)) {
    if (open == 0) of_caller_.erase(from.address);
    return refuse(caller, absl::StrCat(kPassedCallsMax, " calls of this kind are open, which is the most; try again"));
  }
  ++open;
  auto inner = std::make_unique<InnerCall>(*this, caller, path);
  InnerCall& call = *inner;
  calls_.emplace(&call, std::move(inner));
  auto handler = std::make_unique<OuterHandler>(call);
  call.start(*handler);
  return handler;
}

void Passing::ended(InnerCall& call) {
  budget_.leave(call.from().door);
  const auto counted = of_caller_.find(call.from().address);
  if (--counted->second == 0) of_caller_.erase(counted);
  calls_.erase(&call);
}

}  // namespace ingot::rpc
