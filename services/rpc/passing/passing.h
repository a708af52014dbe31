// Calls of methods that no loop serves, passed on to a gRPC C++ server in this process.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "services/rpc/passing/budget.h"
#include "services/rpc/passing/limits.h"
#include "services/rpc/passing/pace.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"
#include "transport/host/loop_tasks.h"
#include "transport/pollable.h"

namespace ingot::rpc::inline passing {

class InnerCall;

// The calls that one loop passes on; used by that loop's thread. Messages are passed on as they are. Metadata goes both
// ways, and so do deadline, cancellation and status details. The next message is read from either side when the other
// side has taken the one before, so each call keeps at most one message for each direction and what the engine's own
// bounds allow. gRPC's threads hand over what has happened by the loop's LoopTasks. The loop polls it after the server,
// so that a call that has just come is passed on in the same round.
//
// The caller goes along under kCallerKey.
class Passing final : public Pollable {
 public:
  // Hears how much of the heap a call has freed at its end, in bytes.
  using Freed = std::function<void(std::size_t bytes)>;

  // `channel` leads to the server (grpc::Server::InProcessChannel). `loop`, `budget` and what `freed` uses outlive this
  // object.
  Passing(std::shared_ptr<grpc::Channel> channel, LoopTasks& loop, PassedCalls& budget, Freed freed);
  // Cancels what is open, and waits for its end. REQUIRES: the loop has ended, or this is its thread.
  ~Passing() override;

  // Begins to pass on a call of the method `path`; for Methods::set_fallback. If too many are open, ends it or another
  // one with RESOURCE_EXHAUSTED (services/rpc/passing/limits.h).
  std::unique_ptr<StreamHandler> begin(Call caller, std::string_view path);

  // From now on calls end once they are idle for kStalledEndMs and their callers await no answer. An example is a watch
  // of the server's health, which no caller would end.
  void drain();

  // Gives gRPC C++ some calls, and takes some from it.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return looked_ || (any_wait() && pace_.may(now_ns_)); }
  std::uint64_t deadline_ns() const override { return std::min(look_ns_, any_wait() ? pace_.ready_ns() : kNever); }

  std::size_t open() const { return calls_.size(); }

 private:
  friend class InnerCall;
  // A caller's calls.
  struct Share {
    Caller::Door door = Caller::Door::kTcp;
    int open = 0;                   // with those that are about to end
    std::list<InnerCall*> lasting;  // without them; the one that has been idle for longest comes first
    std::list<InnerCall*> waiting;  // of them: gRPC C++ does not have these yet
  };
  void wait_for_turn(Share& share, InnerCall& call);
  void leave_line(InnerCall& call);
  void wait_for_cancel(InnerCall& call);
  void start_next();
  void cancel_next();
  void look_for_idle();
  int end_idle();
  bool any_wait() const { return !turns_.empty() || !cancels_.empty(); }
  void used(InnerCall& call);    // it is not idle
  void let_go(InnerCall& call);  // its caller's call is over
  void ended(InnerCall& call);
  bool make_room(Caller::Door door);
  int& held(Caller::Door door) { return held_[static_cast<std::size_t>(door)]; }

  grpc::GenericStub stub_;
  LoopTasks& loop_;
  PassedCalls& budget_;
  const Freed freed_;
  std::map<InnerCall*, std::unique_ptr<InnerCall>> calls_;
  std::map<std::string, Share, std::less<>> of_caller_;  // by address
  std::array<int, 2> held_{};                            // by door: open calls of this loop
  int ending_ = 0;                                       // calls whose places others have taken
  std::list<Share*> turns_;                              // callers with calls that wait; the next one comes first
  std::list<InnerCall*> cancels_;                        // calls that gRPC C++ has, and shall end
  Pace pace_{1'000'000'000 / kPassedTurnsPerSecond, kPassedTurnsBurst};
  std::uint64_t now_ns_ = 0;        // of this round
  std::uint64_t look_ns_ = kNever;  // the next look for calls that are idle, of a server that leaves
  bool looked_ = false;             // in the last round
};

}  // namespace ingot::rpc::passing
