// One call that is passed on: the client's side of it inside this process.
#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include "services/rpc/passing/passing.h"
#include "services/rpc/server/call.h"
#include "services/rpc/server/methods.h"

namespace ingot::rpc::inline passing {

class OuterHandler;

// Lives from begin() until gRPC has reported its end (OnDone), which may be later than the end of the caller's call.
// gRPC's threads call the On functions, which hand over to the loop; the loop's thread does all else.
class InnerCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  InnerCall(Passing& passing, Call caller, std::string_view path);

  // The caller's side. To be called once, before all else.
  void handled_by(OuterHandler& handler) { handler_ = &handler; }
  // gRPC gets the call, and what the caller has sent of it.
  void start();

  // From the caller, as in StreamHandler.
  void message(std::string_view bytes);
  void half_closed();
  void writable();
  bool wants_more() const { return !writing_ && waiting_.empty(); }

  // abandon(), make_room() and cancel() delete a call that has not started.

  // The caller's call is over, and its handler is no more. gRPC hears of it in its turn.
  void abandon();
  // Gives way to another call: ends the caller's call with RESOURCE_EXHAUSTED, and this call when Passing next ends
  // some.
  void make_room();
  // Likewise, for a server that leaves.
  void end_idle();
  void look_whether_idle() { idle_ = !std::exchange(moved_, false); }
  // Whether no message had come from either side between the last two checks, none has come since, and the caller
  // awaits no answer to its last message. Such a call ends only if its caller ends it.
  bool idle() const { return idle_ && !moved_ && !owed_; }
  // The same of a call that is about to end anyway.
  void gives_room() { made_room_ = true; }
  bool made_room() const { return made_room_; }
  // Ends the call. The caller's call hears no more of it.
  void cancel();

  std::optional<std::list<InnerCall*>::iterator> place;    // Passing's, in Share::lasting
  std::optional<std::list<InnerCall*>::iterator> in_line;  // Passing's, in Share::waiting
  std::optional<std::list<InnerCall*>::iterator> leaving;  // Passing's, in cancels_

  const Caller& from() const { return from_; }
  bool started() const { return context_.has_value(); }

 private:
  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void end_caller(const grpc::Status& status);
  void end_in_turn();
  void read();
  void read_done(bool ok);
  void write_next();
  void write_done(bool ok);
  void let_end();
  void done(const grpc::Status& status);

  Passing& passing_;
  const Call caller_;
  const Caller from_;
  const std::string path_;
  std::optional<grpc::ClientContext> context_;  // once gRPC has the call
  OuterHandler* handler_ = nullptr;  // null once the caller's call is over
  grpc::ByteBuffer read_;
  grpc::ByteBuffer write_;
  std::deque<grpc::ByteBuffer> waiting_;  // messages of the caller behind write_
  bool reading_ = false;
  bool writing_ = false;
  bool half_closed_ = false;  // by the caller; WritesDone follows the last message
  bool writes_done_ = false;
  bool made_room_ = false;
  bool moved_ = true;  // since the last look
  bool idle_ = false;  // nothing had, at that look
  bool owed_ = false;  // an answer to the caller's last message
  bool held_ = false;  // gRPC does not report the end yet (AddHold)
};

// The caller's side.
class OuterHandler final : public StreamHandler {
 public:
  explicit OuterHandler(InnerCall& inner) : inner_(&inner) {}
  ~OuterHandler() override {
    if (inner_ != nullptr) inner_->abandon();
  }
  void message(std::string_view bytes) override {
    if (inner_ != nullptr) inner_->message(bytes);
  }
  void half_closed() override {
    if (inner_ != nullptr) inner_->half_closed();
  }
  void writable() override {
    if (inner_ != nullptr) inner_->writable();
  }
  bool wants_more() const override { return inner_ == nullptr || inner_->wants_more(); }

  // The inner call has ended.
  void forget() { inner_ = nullptr; }

 private:
  InnerCall* inner_;
};

}  // namespace ingot::rpc::passing
