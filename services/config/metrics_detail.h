// How much the metrics show under etcd's names.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace ingot::inline services_config {

enum class MetricsDetail : std::uint8_t {
  kBasic,
  kExtensive,  // grpc_server_handling_seconds, too
};
constexpr std::array<const char*, 2> enum_names(MetricsDetail) { return {"basic", "extensive"}; }

}  // namespace ingot::services_config
