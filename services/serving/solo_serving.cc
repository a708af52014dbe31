#include "services/serving/solo_serving.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_serving {

absl::StatusOr<std::unique_ptr<SoloServing>> SoloServing::create(const DaemonConfig& config, const InstanceView& view,
                                                                 ReplicaClient& client, FaultInjector* injector) {
  auto loop = ServingLoop::create(WaitOptions::shared_core());
  if (!loop.ok()) return loop.status();
  std::unique_ptr<SoloServing> solo(new SoloServing(*std::move(loop), client));
  solo->serving_ = std::make_unique<Serving>(
      config, view, std::vector<Serving::Served>{{*solo->loop_, solo->client_}}, injector);
  return solo;
}

SoloServing::SoloServing(std::unique_ptr<ServingLoop> loop, ReplicaClient& client)
    : loop_(std::move(loop)), client_(loop_->shared_tasks(), client) {}

SoloServing::~SoloServing() { drain(); }

absl::Status SoloServing::start(const ListeningSockets& sockets) {
  if (auto status = serving_->start(sockets); !status.ok()) return status;
  try {
    thread_ = std::thread([this] { loop_->loop().run(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
  }
  return absl::OkStatus();
}

void SoloServing::drain() {
  if (!thread_.joinable()) return;
  serving_->drain();
  loop_->loop().stop();
  thread_.join();
}

}  // namespace ingot::services_serving
