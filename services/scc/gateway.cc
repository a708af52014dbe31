#include "services/scc/gateway.h"

#include <utility>

#include "replication/client/session_endpoint.h"

namespace ingot::inline services_scc {

namespace {

std::uint64_t virtual_ns(const scc::Core& core) { return core.now_ps() / 1000; }

}  // namespace

// The session, with the requests that wait outside the chip. No other thread submits, so it needs no lock.
class Gateway::Endpoint final : public Pollable {
 public:
  Endpoint(Gateway& gateway, scc::Core& core, SessionEndpoint& session)
      : gateway_(gateway), core_(core), session_(session) {}

  int poll(std::uint64_t now_ns) override {
    int work = 0;
    for (; !gateway_.waiting_.empty(); ++work) {
      ChipRequest request = std::move(gateway_.waiting_.front());
      gateway_.waiting_.pop_front();
      submit(std::move(request));
    }
    work += session_.poll(now_ns, answers_);
    for (const SessionCore::Answer& answer : answers_) answer.deliver();
    answers_.clear();
    return work;
  }
  bool readable() override { return !gateway_.waiting_.empty() || session_.readable(); }
  std::uint64_t deadline_ns() const override { return session_.deadline_ns(); }

 private:
  void submit(ChipRequest request) {
    SessionCore::Callback answered = [this, id = request.id, kind = request.kind,
                                      since = core_.now_ps()](const ReplicaReply& reply) {
      if (reply.outcome == ReplicaReply::Outcome::kOk) gateway_.latencies_.add(kind, core_.now_ps() - since);
      gateway_.replies_.push_back({id, reply.outcome, reply.slot, std::string(reply.payload)});
    };
    const auto refusal =
        session_.submit(request.kind, std::move(request.payload), answered, request.replica, virtual_ns(core_));
    if (refusal) return answered({refusal->outcome, Slot(), refusal->sentence});
    session_.flush();
  }

  Gateway& gateway_;
  scc::Core& core_;
  SessionEndpoint& session_;
  std::vector<SessionCore::Answer> answers_;
};

void Gateway::run(const scc::ChipFabric& fabric, scc::Core& core) {
  const EndpointId self(static_cast<std::uint16_t>(options_.replicas));
  const auto transport = scc::make_chip_transport(fabric, core, self);
  RoomWatch watched(*transport, options_.replicas + 1);
  SessionEndpoint::Options options;
  options.replicas = options_.replicas;
  options.session = options_.session;
  options.acceptor = EndpointId(options_.replicas > 1 ? 1 : 0);
  options.nearest = EndpointId(static_cast<std::uint16_t>(options_.replicas - 1));
  options.daemon = options_.daemon;
  SessionEndpoint session(watched, options);
  Endpoint endpoint(*this, core, session);
  CoreLoop{.fabric = fabric,
           .core = core,
           .transport = watched,
           .endpoint = endpoint,
           .cycles_per_unit = options_.cycles_per_message}
      .run();
}

}  // namespace ingot::services_scc
