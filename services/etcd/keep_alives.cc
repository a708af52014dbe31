#include "services/etcd/keep_alives.h"

#include <algorithm>
#include <utility>

#include "proto/etcd/rpc.pb.h"
#include "replication/store/limits.h"
#include "services/etcd/errors.h"
#include "services/etcd/limits.h"
#include "services/etcd/store_answer.h"

namespace ingot::etcd {

namespace pb = etcdserverpb;

class KeepAlives::Handler final : public rpc::StreamHandler {
 public:
  Handler(KeepAlives& all, StreamPtr stream) : all_(all), stream_(std::move(stream)) {
    all_.streams_.insert(stream_.get());
  }
  ~Handler() override {
    stream_->over = true;
    all_.streams_.erase(stream_.get());
  }

  void message(std::string_view bytes) override {
    pb::LeaseKeepAliveRequest request;
    if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return all_.ask(stream_, request.id());
    all_.end(*stream_, malformed_request());
  }
  void half_closed() override {
    stream_->half_closed = true;
    all_.end_if_done(*stream_);
  }
  void writable() override { stream_->call.resume(); }
  bool wants_more() const override { return all_.takes_more(stream_); }

 private:
  KeepAlives& all_;
  const StreamPtr stream_;
};

std::unique_ptr<rpc::StreamHandler> KeepAlives::begin(const rpc::Call& call, RequestMetrics& metrics) {
  return std::make_unique<Handler>(*this, std::make_shared<Stream>(call, metrics));
}

void KeepAlives::end(const grpc::Status& status) {
  const std::vector<Stream*> all(streams_.begin(), streams_.end());
  for (Stream* stream : all) end(*stream, status);
}

void KeepAlives::end(Stream& stream, const grpc::Status& status) {
  if (std::exchange(stream.over, true)) return;
  stream.timer.finish(status.error_code());
  const rpc::Call call = stream.call;  // whose end may be the stream's
  call.finish(status);
}

void KeepAlives::end_if_done(Stream& stream) {
  if (stream.half_closed && stream.waiting == 0) end(stream, grpc::Status::OK);
}

// The stream's own bound and that of what it does not read hold it back until its next answer, or until it reads; the
// bound of all streams until the next command.
bool KeepAlives::takes_more(const StreamPtr& stream) {
  if (stream->call.pending_bytes() >= kKeepAliveOutputBytesMax) {
    stream->call.tell_below(kKeepAliveOutputBytesMax);
    return false;
  }
  if (stream->waiting < kKeepAlivesOfStreamMax && queue_.size() < kKeepAlivesWaitingMax) return true;
  if (!std::exchange(stream->held_back, true)) held_back_.push_back(stream);
  return false;
}

void KeepAlives::ask(const StreamPtr& stream, std::int64_t id) {
  ++stream->waiting;
  stream->had_room = true;
  queue_.push_back({stream, id});
  send();
}

void KeepAlives::send() {
  if (std::exchange(sending_, true)) return;
  while (!under_way_ && !queue_.empty()) {
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kKeepAlivesMax));
    std::vector<Asked> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    kv::LeaseKeepAliveRequest request;
    for (const Asked& asked : batch) request.ids.push_back(asked.id);
    under_way_ = true;
    client_.submit(RequestKind::kCommand, kv::encode(kv::Request(std::move(request))),
                   [this, batch = std::move(batch)](const ReplicaReply& reply) { take(batch, reply); });
  }
  sending_ = false;
}

void KeepAlives::take(const std::vector<Asked>& batch, const ReplicaReply& reply) {
  under_way_ = false;
  kv::Result result;
  const grpc::Status status = open<kv::LeaseKeepAliveResult>(reply, result);
  if (status.ok()) {
    answer(batch, result);
  } else {
    fail(batch, status);
  }
  resume();
  send();
}

// What waits behind a command that has failed would wait as long again, for each command before it. Its clients try
// elsewhere, or again.
void KeepAlives::fail(const std::vector<Asked>& batch, const grpc::Status& status) {
  for (const Asked& asked : batch) end(*asked.stream, status);
  for (const Asked& asked : std::exchange(queue_, {})) end(*asked.stream, status);
}

void KeepAlives::answer(const std::vector<Asked>& batch, const kv::Result& result) {
  const std::vector<std::int64_t>& ttls_s = std::get<kv::LeaseKeepAliveResult>(result.body).ttls_s;
  pb::LeaseKeepAliveResponse response;
  header_.fill(response.mutable_header());
  response.mutable_header()->set_revision(result.revision);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Stream& stream = *batch[i].stream;
    --stream.waiting;
    if (stream.over) continue;
    response.set_id(batch[i].id);
    response.set_ttl(i < ttls_s.size() ? ttls_s[i] : 0);
    stream.call.send(response);
    end_if_done(stream);
  }
}

// Those that found no room are the first at the next time.
void KeepAlives::resume() {
  for (const StreamPtr& stream : std::exchange(held_back_, {})) {
    stream->held_back = stream->had_room = false;
    if (!stream->over) stream->call.resume();
  }
  std::stable_partition(held_back_.begin(), held_back_.end(),
                        [](const StreamPtr& stream) { return !stream->had_room; });
}

}  // namespace ingot::etcd
