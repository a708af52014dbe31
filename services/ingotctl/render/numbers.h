// The numbers of a repeated field, as JSON takes them.
#pragma once

#include <cstdint>
#include <vector>

#include <google/protobuf/repeated_field.h>

namespace ingot::inline services_ingotctl_render {

inline std::vector<std::uint32_t> numbers(const google::protobuf::RepeatedField<std::uint32_t>& field) {
  return {field.begin(), field.end()};
}

}  // namespace ingot::services_ingotctl_render
