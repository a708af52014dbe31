#include "services/rpc/server/methods.h"

#include "core/check.h"

namespace ingot::rpc::inline server {

void Methods::add(std::string path, Method method) {
  INGOT_CHECK((method.unary != nullptr) != (method.stream != nullptr), "a method is unary or a stream");
  const bool added = methods_.emplace(std::move(path), std::move(method)).second;
  INGOT_CHECK(added, "a path has one method");
}

const Method* Methods::find(std::string_view path) const {
  const auto found = methods_.find(absl::string_view(path.data(), path.size()));
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace ingot::rpc::server
