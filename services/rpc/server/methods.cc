#include "services/rpc/server/methods.h"

#include <set>

#include "core/check.h"

namespace ingot::rpc::inline server {

void Methods::add(std::string path, Method method) {
  INGOT_CHECK((method.unary != nullptr) != (method.stream != nullptr), "a method is unary or a stream");
  const bool added = methods_.emplace(std::move(path), std::move(method)).second;
  INGOT_CHECK(added, "a path has one method");
}

void Methods::add_json(std::string path, JsonMethod method) {
  const bool added = json_.emplace(std::move(path), std::move(method)).second;
  INGOT_CHECK(added, "a path of JSON has one method");
}

const JsonMethod* Methods::find_json(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  const auto found = json_.find(absl::string_view(path.data(), path.size()));
  return found == json_.end() ? nullptr : &found->second;
}

std::vector<std::string> Methods::services() const {
  std::set<std::string> names;
  for (const auto& [path, method] : methods_) names.insert(path.substr(1, path.rfind('/') - 1));
  return {names.begin(), names.end()};
}

const Method* Methods::find(std::string_view path) const {
  const auto found = methods_.find(absl::string_view(path.data(), path.size()));
  return found == methods_.end() ? nullptr : &found->second;
}

}  // namespace ingot::rpc::server
