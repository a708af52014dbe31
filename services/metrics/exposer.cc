#include "services/metrics/exposer.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_metrics {

absl::StatusOr<std::unique_ptr<MetricsExposer>> MetricsExposer::start(const std::string& address,
                                                                      const MetricsText& metrics,
                                                                      rpc::Http1Answers others,
                                                                      HttpServerBounds bounds) {
  others["/metrics"] = [&metrics](std::string_view) { return rpc::Http1Answer{200, metrics.now(), kMetricsType}; };
  auto server = HttpServer::start(address, std::move(others), bounds);
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        absl::StrCat("cannot serve metrics on ", address, ": ", server.status().message(),
                                     "; give a free address of this machine as --metrics-listen"));
  }
  return std::unique_ptr<MetricsExposer>(new MetricsExposer(*std::move(server)));
}

}  // namespace ingot::services_metrics
