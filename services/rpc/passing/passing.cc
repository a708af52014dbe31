#include "services/rpc/passing/passing.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/rpc/passing/inner_call.h"
#include "services/rpc/passing/limits.h"
#include "services/rpc/server/limits.h"

namespace ingot::rpc::inline passing {

namespace {

static_assert(kStreamingCallsMax + kPassedCallsPerCallerMax <= kStreamingCallsAllMax, "watches leave them streams");

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

Passing::Passing(std::shared_ptr<grpc::Channel> channel, LoopTasks& loop, PassedCalls& budget, Freed freed)
    : stub_(std::move(channel)), loop_(loop), budget_(budget), freed_(std::move(freed)) {}

Passing::~Passing() {
  std::vector<InnerCall*> open;
  for (const auto& [call, owned] : calls_) open.push_back(call);
  for (InnerCall* call : open) call->cancel();
  while (!calls_.empty()) {
    loop_.wait();
    loop_.poll(0);
  }
}

std::unique_ptr<StreamHandler> Passing::begin(Call caller, std::string_view path) {
  const Caller from = caller.caller();
  const auto mine = of_caller_.find(from.address);
  if (mine != of_caller_.end() && mine->second.open >= kPassedCallsPerCallerMax) {
    return refuse(
        caller, absl::StrCat(mine->second.open, " calls of this kind are open from here, which is the most; end some"));
  }
  if (!budget_.enter(from.door)) {
    if (!make_room(from.door)) {
      return refuse(caller,
                    absl::StrCat(kPassedCallsMax, " calls of this kind are open, which is the most; try again"));
    }
    budget_.enter_anyway(from.door);
  }
  Share& share = of_caller_[from.address];
  share.door = from.door;
  ++share.open;
  ++held(from.door);
  auto inner = std::make_unique<InnerCall>(*this, caller, path);
  InnerCall& call = *inner;
  calls_.emplace(&call, std::move(inner));
  call.place = share.lasting.insert(share.lasting.end(), &call);
  auto handler = std::make_unique<OuterHandler>(call);
  call.handled_by(*handler);
  wait_for_turn(share, call);
  return handler;
}

// ---- Turns ----------------------------------------------------------------------------------------------------------

void Passing::wait_for_turn(Share& share, InnerCall& call) {
  if (share.waiting.empty()) turns_.push_back(&share);
  call.in_line = share.waiting.insert(share.waiting.end(), &call);
}

void Passing::leave_line(InnerCall& call) {
  if (!call.in_line) return;
  Share& share = of_caller_.find(call.from().address)->second;
  share.waiting.erase(*call.in_line);
  call.in_line.reset();
  if (share.waiting.empty()) turns_.remove(&share);
}

void Passing::wait_for_cancel(InnerCall& call) { call.leaving = cancels_.insert(cancels_.end(), &call); }

void Passing::cancel_next() {
  InnerCall& call = *cancels_.front();
  cancels_.pop_front();
  call.leaving.reset();
  call.cancel();
}

void Passing::start_next() {
  turns_.splice(turns_.end(), turns_, turns_.begin());
  InnerCall& call = *turns_.back()->waiting.front();
  leave_line(call);
  call.start();
}

int Passing::poll(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  int done = 0;
  const auto some = [&](int most, const auto& any, void (Passing::*next)()) {
    for (int i = 0; i < most && !any.empty() && pace_.may(now_ns); ++i, ++done) {
      pace_.take(now_ns);
      (this->*next)();
    }
  };
  if (std::exchange(looked_, false)) done += end_idle();
  if (now_ns >= look_ns_) look_for_idle();
  some(kPassedCancelsPerRound, cancels_, &Passing::cancel_next);
  some(kPassedStartsPerRound, turns_, &Passing::start_next);
  return done;
}

void Passing::drain() {
  for (const auto& [call, owned] : calls_) call->look_whether_idle();
  look_ns_ = now_ns_ + kStalledEndMs * 1'000'000;
}

// The loop may have had no processor for so long: what gRPC's threads have handed over meanwhile is heard before the
// next round, which ends those that are idle still.
void Passing::look_for_idle() {
  look_ns_ = now_ns_ + kStalledEndMs * 1'000'000;
  looked_ = true;
  for (const auto& [call, owned] : calls_) call->look_whether_idle();
}

int Passing::end_idle() {
  std::vector<InnerCall*> idle;
  for (const auto& [call, owned] : calls_) {
    if (call->place && call->idle()) idle.push_back(call);
  }
  for (InnerCall* call : idle) call->end_idle();
  return static_cast<int>(idle.size());
}

// ---- Places ---------------------------------------------------------------------------------------------------------

// Ends the call that has been idle for longest, of the caller that has the most.
bool Passing::make_room(Caller::Door door) {
  if (held(door) < kPassedCallsReserved) return true;
  if (ending_ >= kPassedCallsEndingMax) return false;
  for (InnerCall* call : cancels_) {  // its caller's call is over: its place is as good as free
    if (call->from().door != door || call->made_room()) continue;
    ++ending_;
    call->gives_room();
    return true;
  }
  Share* most = nullptr;
  for (auto& [address, share] : of_caller_) {
    if (share.door != door || share.lasting.empty()) continue;
    if (most == nullptr || share.lasting.size() > most->lasting.size()) most = &share;
  }
  if (most == nullptr) return false;
  ++ending_;
  most->lasting.front()->make_room();
  return true;
}

void Passing::used(InnerCall& call) {
  if (!call.place) return;
  auto& lasting = of_caller_.find(call.from().address)->second.lasting;
  lasting.splice(lasting.end(), lasting, *call.place);
}

void Passing::let_go(InnerCall& call) {
  if (call.place) of_caller_.find(call.from().address)->second.lasting.erase(*call.place);
  call.place.reset();
}

void Passing::ended(InnerCall& call) {
  let_go(call);
  leave_line(call);
  if (call.leaving) cancels_.erase(*call.leaving);
  if (call.made_room()) --ending_;
  budget_.leave(call.from().door);
  --held(call.from().door);
  const auto counted = of_caller_.find(call.from().address);
  if (--counted->second.open == 0) of_caller_.erase(counted);
  const bool had_memory = call.started();
  calls_.erase(&call);
  if (had_memory) freed_(kPassedCallBytes);
}

}  // namespace ingot::rpc::passing
