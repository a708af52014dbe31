#include "tests/simulation/checkers/effect.h"

namespace ingot::simulation {

void EffectChecker::carried_out(int replica, Value operation) {
  Effects& effects = effects_[static_cast<std::size_t>(replica)];
  if (operation >= effects.size()) effects.resize(operation + std::size_t{64});
  if (effects[operation]) {
    object("exactly once: replica " + std::to_string(replica) + " carries out operation " + std::to_string(operation) +
           " again");
  }
  effects[operation] = true;
}

void EffectChecker::counted(int replica, const Counted& counted) {
  const bool few = counted.bytes <= counted.bytes_max && counted.held_bytes / 2 <= counted.bytes_max;
  if (few && counted.bytes <= counted.held_bytes) return;
  object("quota: replica " + std::to_string(replica) + " counts " + std::to_string(counted.bytes) +
         " bytes and holds " + std::to_string(counted.held_bytes) + ", and may count " +
         std::to_string(counted.bytes_max));
}

void EffectChecker::check_durability(int replica) {
  const Effects& effects = effects_[static_cast<std::size_t>(replica)];
  for (const Value operation : acknowledged_) {
    if (operation < effects.size() && effects[operation]) continue;
    return object("durability: operation " + std::to_string(operation) + " was acknowledged, and replica " +
                  std::to_string(replica) + " does not have it");
  }
}

void EffectChecker::check_refused(int replica) {
  const Effects& effects = effects_[static_cast<std::size_t>(replica)];
  for (const Value operation : refused_) {
    if (operation >= effects.size() || !effects[operation]) continue;
    return object("refusal: operation " + std::to_string(operation) + " was refused, and replica " +
                  std::to_string(replica) + " has carried it out");
  }
}

}  // namespace ingot::simulation
