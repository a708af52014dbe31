#include "services/watch/watch_methods.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/etcd/errors.h"

namespace ingot::watch {
namespace {

// One call. The hub ends it, or the client does.
class WatchCall final : public rpc::StreamHandler, private WatchOutput {
 public:
  WatchCall(Hub& hub, RequestMetrics& metrics, const rpc::Call& call)
      : hub_(hub), call_(call), connection_(call.connection()), timer_(metrics, Method::kWatch), stream_(*this) {
    const auto needs_leader = call.metadata("hasleader");
    stream_.needs_leader = needs_leader && *needs_leader == "true";
  }
  ~WatchCall() override { hub_.close(stream_); }

  // False: the call is finished.
  bool begin() {
    const grpc::Status status = hub_.open(stream_);
    if (!status.ok()) finish(status);
    return status.ok();
  }

  // StreamHandler.
  void message(std::string_view bytes) override {
    pb::WatchRequest request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return finish(etcd::malformed_request());
    }
    hub_.request(stream_, std::move(request), bytes.size());
  }
  void half_closed() override {}  // watches go on
  void writable() override { hub_.writable(stream_); }
  bool wants_more() const override { return hub_.takes_requests(stream_); }

 private:
  // WatchOutput.
  void send(std::vector<std::string> pieces) override { call_.send_pieces(std::move(pieces)); }
  std::size_t pending_bytes() const override { return call_.pending_bytes(); }
  void tell_below(std::size_t bytes) override { call_.tell_below(bytes); }
  void resume() override { call_.resume(); }
  const void* connection() const override { return connection_; }
  std::string peer() const override { return call_.caller().address; }
  void finish(const grpc::Status& status) override {
    timer_.finish(status.error_code());
    call_.finish(status);
  }

  Hub& hub_;
  const rpc::Call call_;
  const void* const connection_;
  RequestTimer timer_;
  mutable WatchStream stream_;
};

}  // namespace

WatchMethods::WatchMethods(ReplicaClient& client, const DaemonConfig& config, const InstanceView& view,
                           RequestMetrics& metrics, WatchCounters& counters)
    : header_(config, view),
      metrics_(metrics),
      hub_({client, counters, [this](pb::ResponseHeader* header) { header_.fill(header); },
            [this] { return static_cast<Revision>(header_.greatest(ReplicaCounter::kStoreRevision)); },
            [this] { return header_.has_leader() && header_.newest(ReplicaCounter::kBlocked) == 0; },
            static_cast<std::uint64_t>(std::max(config.watch_progress_notify_interval_ms, kNotifyMsMin))}) {}

void WatchMethods::add_to(rpc::Methods& methods) {
  rpc::Method method;
  method.bounds_output = true;
  method.stream = [this](rpc::Call call) -> std::unique_ptr<rpc::StreamHandler> {
    auto made = std::make_unique<WatchCall>(hub_, metrics_, call);
    made->begin();
    return made;
  };
  methods.add("/etcdserverpb.Watch/Watch", std::move(method));
}

void WatchMethods::drain() { hub_.end_streams(etcd::server_stopped()); }

}  // namespace ingot::watch
