#include "services/scc/gateway.h"

#include <utility>

#include "replication/client/session_client.h"

namespace ingot {

// The client, with the requests that wait outside the chip.
class Gateway::Endpoint final : public Pollable {
 public:
  Endpoint(Gateway& gateway, scc::Core& core, ShmReplicaClient& client)
      : gateway_(gateway), core_(core), client_(client) {}

  int poll(std::uint64_t now_ns) override {
    int work = 0;
    for (; !gateway_.waiting_.empty(); ++work) {
      ChipRequest request = std::move(gateway_.waiting_.front());
      gateway_.waiting_.pop_front();
      const auto answered = [this, id = request.id, kind = request.kind,
                             since = core_.now_ps()](const ReplicaReply& reply) {
        if (reply.outcome == ReplicaReply::Outcome::kOk) gateway_.latencies_.add(kind, core_.now_ps() - since);
        gateway_.replies_.push_back({id, reply.outcome, reply.slot, std::string(reply.payload)});
      };
      client_.submit(request.kind, std::move(request.payload), answered, request.replica);
    }
    return work + client_.poll(now_ns);
  }
  bool readable() override { return !gateway_.waiting_.empty() || client_.readable(); }
  std::uint64_t deadline_ns() const override { return client_.deadline_ns(); }

 private:
  Gateway& gateway_;
  scc::Core& core_;
  ShmReplicaClient& client_;
};

void Gateway::run(const scc::ChipFabric& fabric, scc::Core& core) {
  const EndpointId self(static_cast<std::uint16_t>(options_.replicas));
  const auto transport = scc::make_chip_transport(fabric, core, self);
  RoomWatch watched(*transport, options_.replicas + 1);
  ShmReplicaClient::Options options;
  options.replicas = options_.replicas;
  options.session = options_.session;
  options.acceptor = EndpointId(options_.replicas > 1 ? 1 : 0);
  options.nearest = EndpointId(static_cast<std::uint16_t>(options_.replicas - 1));
  options.daemon = options_.daemon;
  options.wake_loop = [] {};  // the loop is awake: its own poll submits requests
  options.now_ns = [&core] { return core.now_ps() / 1000; };
  ShmReplicaClient client(watched, options);
  Endpoint endpoint(*this, core, client);
  CoreLoop{.fabric = fabric,
           .core = core,
           .transport = watched,
           .endpoint = endpoint,
           .cycles_per_unit = options_.cycles_per_message}
      .run();
}

}  // namespace ingot
