#include "services/etcd/health_methods.h"

#include <memory>
#include <utility>

#include "proto/grpc/health.pb.h"
#include "services/etcd/errors.h"
#include "services/etcd/one_request.h"
#include "services/etcd/parse.h"

namespace ingot::etcd {

namespace hp = ::grpc::health::v1;

namespace {

hp::HealthCheckResponse response_of(hp::HealthCheckResponse::ServingStatus status) {
  hp::HealthCheckResponse response;
  response.set_status(status);
  return response;
}

}  // namespace

// Says what holds now, and again when the server leaves.
class HealthMethods::Watcher final : public OneRequest<hp::HealthCheckRequest> {
 public:
  Watcher(HealthMethods& all, const rpc::Call& call) : OneRequest(call), all_(all) { all_.watchers_.insert(this); }
  ~Watcher() override { all_.watchers_.erase(this); }

  void writable() override {}

  void leave() {
    if (begun_) call_.send(response_of(hp::HealthCheckResponse::NOT_SERVING));
    call_.finish(server_stopped());
  }

 private:
  void begin(hp::HealthCheckRequest&& request) override {
    const bool known = request.service().empty();
    call_.send(response_of(known ? hp::HealthCheckResponse::SERVING : hp::HealthCheckResponse::SERVICE_UNKNOWN));
    begun_ = known;
  }

  HealthMethods& all_;
  bool begun_ = false;
};

void HealthMethods::add_to(rpc::Methods& methods) {
  rpc::Method check;
  check.unary = [this](const rpc::Call& call, std::string_view bytes) { this->check(call, bytes); };
  methods.add("/grpc.health.v1.Health/Check", std::move(check));
  rpc::Method watch;
  watch.stream = [this](const rpc::Call& call) { return std::make_unique<Watcher>(*this, call); };
  methods.add("/grpc.health.v1.Health/Watch", std::move(watch));
}

void HealthMethods::check(const rpc::Call& call, std::string_view bytes) const {
  hp::HealthCheckRequest request;
  if (!parse(call, bytes, request)) return;
  if (!request.service().empty()) return call.finish({grpc::StatusCode::NOT_FOUND, "service name unknown"});
  call.send(response_of(serving_ ? hp::HealthCheckResponse::SERVING : hp::HealthCheckResponse::NOT_SERVING));
  call.finish(grpc::Status::OK);
}

void HealthMethods::drain() {
  serving_ = false;
  for (Watcher* watcher : watchers_) watcher->leave();
}

}  // namespace ingot::etcd
