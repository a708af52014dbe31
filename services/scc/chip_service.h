// ingot.control.v1.Scc on gRPC's callback API.
#pragma once

#include <grpcpp/grpcpp.h>

#include "proto/ingot/control/v1/scc.grpc.pb.h"
#include "services/metrics/request_metrics.h"
#include "services/scc/chip_host.h"
#include "services/scc/chip_view.h"

namespace ingot::inline services_scc {

// Thread-safe. Calls complete on the chip's thread.
class ChipService final : public ::ingot::control::v1::Scc::CallbackService {
 public:
  // Both outlive the service.
  ChipService(ChipHost& chip, RequestMetrics& metrics) : chip_(chip), metrics_(metrics) {}

  grpc::ServerUnaryReactor* GetChip(grpc::CallbackServerContext* context,
                                    const ::ingot::control::v1::GetChipRequest* request,
                                    ::ingot::control::v1::GetChipResponse* response) override;

 private:
  ChipHost& chip_;
  RequestMetrics& metrics_;
};

void fill(const ChipView& view, ::ingot::control::v1::GetChipResponse& response);

}  // namespace ingot::services_scc
