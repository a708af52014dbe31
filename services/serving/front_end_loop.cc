#include "services/serving/front_end_loop.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/instance/session_options.h"
#include "services/log/log.h"
#include "transport/host/host_transport.h"

namespace ingot::inline services_serving {

namespace {

EndpointId endpoint_of(const LaunchSpec& spec, int index) {
  return EndpointId(static_cast<std::uint16_t>(spec.config.replicas + index));
}

SessionClient::Options client_options(const LaunchSpec& spec, const InstanceView& view,
                                      PeerIncarnations& incarnations, std::shared_ptr<ShownSlot> shown) {
  SessionClient::Options options =
      session_options(spec, view, incarnations, Incarnation(spec.front_end_incarnation));
  options.shown = std::move(shown);
  return options;
}

}  // namespace

// An answer is of a state that some replica has reached, whose page says so soon afterwards, also if the replica is
// dead.
std::shared_ptr<ShownSlot> FrontEndLoop::shown_before(const InstanceView& view) {
  std::uint64_t applied = 0;
  for (const ReplicaPage* page : view.replicas) {
    applied = std::max(applied, (*page)[ReplicaCounter::kAppliedSlots].get());
  }
  return std::make_shared<ShownSlot>(Slot(applied));
}

absl::StatusOr<std::unique_ptr<FrontEndLoop>> FrontEndLoop::create(const LaunchSpec& spec, int index,
                                                                   InstanceMemory& memory, const InstanceView& view,
                                                                   std::shared_ptr<ShownSlot> shown) {
  auto serving = ServingLoop::create(spec.shared_cores ? WaitOptions::shared_core() : WaitOptions::own_core());
  if (!serving.ok()) return serving.status();
  return std::unique_ptr<FrontEndLoop>(new FrontEndLoop(spec, index, memory, view, std::move(shown),
                                                        *std::move(serving)));
}

FrontEndLoop::FrontEndLoop(const LaunchSpec& spec, int index, InstanceMemory& memory, const InstanceView& view,
                           std::shared_ptr<ShownSlot> shown, std::unique_ptr<ServingLoop> serving)
    : memory_(memory),
      self_(endpoint_of(spec, index)),
      serving_(std::move(serving)),
      transport_(make_transport(spec.config.transport, memory.inboxes(), self_, memory.fabric(), {})),
      incarnations_(memory.fabric(), *transport_, memory.incarnations()),
      client_(*transport_, client_options(spec, view, incarnations_, std::move(shown))) {}

void FrontEndLoop::replica_died(EndpointId replica, Incarnation incarnation) {
  serving_->tasks().post([this, replica, incarnation] { client_.replica_died(replica, incarnation); });
}

void FrontEndLoop::begin_incarnation(EndpointId replica, Incarnation incarnation, int inbox) {
  auto mapped = memory_.fabric().map_inbox(inbox);
  if (!mapped.ok()) {
    return log_warning(absl::StrCat("a new incarnation could not be taken up: ", mapped.status().ToString()));
  }
  const auto begun = std::make_shared<PeerIncarnation>(PeerIncarnation{replica, incarnation, *std::move(mapped)});
  serving_->tasks().post([this, begun] { client_.begin_incarnation(std::move(*begun)); });
}

}  // namespace ingot::services_serving
