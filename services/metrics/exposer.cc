#include "services/metrics/exposer.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/pages/instance_view.h"
#include "services/metrics/instance_collectable.h"
#include "services/metrics/process_collectable.h"

namespace ingot {

absl::StatusOr<std::unique_ptr<MetricsExposer>> MetricsExposer::start(
    const DaemonConfig& config, const InstanceView& view, RequestMetrics& requests,
    std::vector<std::shared_ptr<prometheus::Collectable>> more) {
  std::unique_ptr<MetricsExposer> result(new MetricsExposer);
  result->collectables_ = {
      std::make_shared<InstanceCollectable>(config, view),
      std::make_shared<ProcessCollectable>(config, view),
      std::shared_ptr<prometheus::Collectable>(&requests, [](prometheus::Collectable*) {}),  // not owned
  };
  for (auto& each : more) result->collectables_.push_back(std::move(each));
  try {
    result->exposer_ = std::make_unique<prometheus::Exposer>(config.metrics_listen, /*num_threads=*/1);
  } catch (const std::exception&) {
    // The library's error names neither the address nor the cause.
    return absl::AlreadyExistsError(absl::StrCat("cannot serve metrics on ", config.metrics_listen,
                                                 "; give a free address of this machine as --metrics-listen"));
  }
  for (const auto& collectable : result->collectables_) result->exposer_->RegisterCollectable(collectable);
  return result;
}

int MetricsExposer::port() const { return exposer_->GetListeningPorts().front(); }

}  // namespace ingot
