#include "services/ingotctl/render/move.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using nlohmann::ordered_json;

}  // namespace

std::string holder_text(const MoveWatch& watch, const std::string& role) {
  if (!watch.holder()) return role == "leader" ? "nobody leads" : "nobody is the acceptor";
  return absl::StrCat("replica ", watch.holder()->id(), role == "leader" ? " leads" : " is the acceptor",
                      watch.already() ? " already" : "", " (epoch ", watch.holder()->epoch(), ", ballot ",
                      watch.holder()->ballot(), ")");
}

std::string move_json(const std::string& role, int to, const control_v1::MoveResponse& begun, const MoveWatch* watch) {
  const bool known = watch != nullptr && watch->holder();
  ordered_json json{{"role", role}, {"to", to}, {"asked", begun.asked()}, {"done", nullptr}};
  if (watch != nullptr) json["done"] = known && watch->holder()->id() == static_cast<std::uint32_t>(to);
  json["holder"] = known ? ordered_json(watch->holder()->id()) : ordered_json();
  json["epoch"] = known ? ordered_json(watch->holder()->epoch()) : ordered_json();
  json["ballot"] = known ? ordered_json(watch->holder()->ballot()) : ordered_json();
  return json.dump();
}

}  // namespace ingot::services_ingotctl_render
