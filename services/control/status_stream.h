// One WatchStatus stream.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <grpcpp/grpcpp.h>

#include <string>

#include "proto/ingot/control/v1/control.pb.h"
#include "services/control/status_hub.h"
#include "services/metrics/request_metrics.h"

namespace ingot::inline services_control {

// Starts a stream of the caller (call_gate.h) and returns its reactor, which deletes itself when gRPC has finished with
// it. Refused with RESOURCE_EXHAUSTED when the caller has its share (StatusHub::add), and with INVALID_ARGUMENT for a
// negative interval.
grpc::ServerWriteReactor<::ingot::control::v1::GetStatusResponse>* start_status_stream(
    StatusHub& hub, const std::string& caller, const google::protobuf::Duration& interval, RequestMetrics& metrics);

}  // namespace ingot::services_control
