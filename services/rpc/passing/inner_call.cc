#include "services/rpc/passing/inner_call.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "services/rpc/passing/limits.h"
#include "services/rpc/passing/metadata.h"
#include "services/rpc/server/limits.h"
#include "transport/host/event_loop.h"

namespace ingot::rpc::inline passing {

namespace {

// A deadline further away is as good as none; the clock's numbers would not hold it.
constexpr std::uint64_t kLongestNs = 365ull * 24 * 3600 * 1'000'000'000;

grpc::ByteBuffer buffer_of(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

void send(const Call& call, const grpc::ByteBuffer& message) {
  grpc::Slice whole;
  if (message.TrySingleSlice(&whole).ok() || message.DumpToSingleSlice(&whole).ok()) {
    call.send_bytes({reinterpret_cast<const char*>(whole.begin()), whole.size()});
  }
}

}  // namespace

// A hold, since reads and writes begin outside of gRPC's reactions.
InnerCall::InnerCall(Passing& passing, Call caller, std::string_view path)
    : passing_(passing), caller_(caller), from_(caller.caller()), path_(path) {}

void InnerCall::start() {
  grpc::ClientContext& context = context_.emplace();
  pass_metadata(caller_, from_, context);
  const std::uint64_t deadline_ns = caller_.deadline_ns(), now_ns = monotonic_ns();
  const std::uint64_t left_ns = deadline_ns - std::min(deadline_ns, now_ns);
  if (left_ns < kLongestNs) context.set_deadline(std::chrono::system_clock::now() + std::chrono::nanoseconds(left_ns));
  passing_.stub_.PrepareBidiStreamingCall(&context, path_, grpc::StubOptions(), this);
  AddHold();
  held_ = true;
  StartCall();
  read();
  write_next();
}

// ---- From the caller ------------------------------------------------------------------------------------------------

void InnerCall::message(std::string_view bytes) {
  passing_.used(*this);
  moved_ = owed_ = true;
  waiting_.push_back(buffer_of(bytes));
  write_next();
}

void InnerCall::half_closed() {
  half_closed_ = true;
  write_next();
}

void InnerCall::writable() {
  if (handler_ != nullptr && !reading_ && held_) read();
}

void InnerCall::write_next() {
  if (writing_ || !held_) return;
  if (!waiting_.empty()) {
    writing_ = true;
    write_.Swap(&waiting_.front());
    waiting_.pop_front();
    StartWrite(&write_);
  } else if (half_closed_ && !std::exchange(writes_done_, true)) {
    StartWritesDone();
  }
}

void InnerCall::abandon() {
  handler_ = nullptr;
  passing_.let_go(*this);
  end_in_turn();
}

void InnerCall::make_room() {
  made_room_ = true;
  end_caller({grpc::StatusCode::RESOURCE_EXHAUSTED,
              "this call was idle, and its place was needed for another; call again when it is needed"});
}

void InnerCall::end_idle() { end_caller({grpc::StatusCode::UNAVAILABLE, "the daemon is leaving"}); }

void InnerCall::end_caller(const grpc::Status& status) {
  passing_.let_go(*this);
  if (handler_ != nullptr) std::exchange(handler_, nullptr)->forget();
  caller_.finish(status);
  end_in_turn();
}

void InnerCall::end_in_turn() {
  started() ? passing_.wait_for_cancel(*this) : passing_.ended(*this);
}

void InnerCall::cancel() {
  if (handler_ != nullptr) std::exchange(handler_, nullptr)->forget();
  if (!started()) return passing_.ended(*this);
  context_->TryCancel();
  if (!reading_) let_end();
}

// ---- From gRPC's threads to the loop --------------------------------------------------------------------------------

void InnerCall::OnReadInitialMetadataDone(bool ok) {
  if (!ok) return;
  passing_.loop_.post([this] {
    if (handler_ == nullptr) return;  // the caller's call is over, and its server may be gone
    const Metadata metadata = metadata_of(context_->GetServerInitialMetadata());
    for (const auto& [name, value] : metadata) caller_.add_initial_metadata(name, value);
    if (!metadata.empty()) caller_.send_initial_metadata();
  });
}

void InnerCall::OnReadDone(bool ok) {
  passing_.loop_.post([this, ok] { read_done(ok); });
}

void InnerCall::OnWriteDone(bool ok) {
  passing_.loop_.post([this, ok] { write_done(ok); });
}

// The last one: this object is deleted there.
void InnerCall::OnDone(const grpc::Status& status) {
  passing_.loop_.post([this, status] { done(status); });
}

// ---- On the loop ----------------------------------------------------------------------------------------------------

void InnerCall::read() {
  reading_ = moved_ = true;
  StartRead(&read_);
}

// The next message is read once this one was written to the connection, which is at the end of this round, and the
// connection has taken it. So the inner server knows of a message that the one before it has left this process.
void InnerCall::read_done(bool ok) {
  reading_ = false;
  moved_ = true;
  if (!ok || handler_ == nullptr) return let_end();
  passing_.used(*this);
  owed_ = false;
  send(caller_, read_);
  read_.Clear();
  passing_.loop_.post([this] {
    if (handler_ != nullptr && !reading_ && held_ && caller_.pending_bytes() < kStreamOutputLowBytes) read();
  });
}

void InnerCall::write_done(bool ok) {
  writing_ = false;
  if (!ok) waiting_.clear();  // the call is about to end
  write_next();
  if (ok && handler_ != nullptr && wants_more()) caller_.resume();
}

// No read follows: gRPC may report the end.
void InnerCall::let_end() {
  if (std::exchange(held_, false)) RemoveHold();
}

void InnerCall::done(const grpc::Status& status) {
  if (handler_ != nullptr) {
    std::exchange(handler_, nullptr)->forget();
    for (const auto& [name, value] : metadata_of(context_->GetServerTrailingMetadata())) {
      caller_.add_trailing_metadata(name, value);
    }
    caller_.finish(status);
  }
  // gRPC's transport inside a process never frees a call whose half-close came behind the server's end, unless the
  // call is cancelled.
  context_->TryCancel();
  passing_.ended(*this);
}

}  // namespace ingot::rpc::passing
