#include "tests/simulation/action_text.h"

#include "core/check.h"
#include "replication/agreement/agreement.h"
#include "tests/replication/agreement/trace.h"

namespace ingot::simulation {

namespace {

std::string name_of(ReplicaIncarnation name) {
  return std::to_string(name.id.value()) + "." + std::to_string(name.incarnation.value());
}

std::string describe_message(const Action& action) {
  switch (static_cast<MessageClass>(action.message.front())) {
    case MessageClass::kAgreement:
      return testing::describe_message(action.message.joined());
    case MessageClass::kRequest:
      return "request";
    case MessageClass::kResponse:
      return "response";
    case MessageClass::kRelayed:
      return "relayed";
    case MessageClass::kCombined:
      return "combined";
    case MessageClass::kSnapshot:
      return "snapshot";
  }
  return "of no class";
}

// Stores and decisions are described like the agreement's effects.
std::string describe_effect(int replica, const Action& action) {
  Effects effects;
  if (action.write != nullptr) effects.stable.push_back(*action.write);
  if (action.decision != nullptr) effects.decided.push_back(*action.decision);
  return testing::describe_effects(replica, effects);
}

}  // namespace

std::string describe(int replica, const Action& action) {
  using Kind = Action::Kind;
  const std::string self = std::to_string(replica);
  const std::string below = " the slots below " + std::to_string(action.slot.value());
  switch (action.kind) {
    case Kind::kStore:
    case Kind::kApply:
      return describe_effect(replica, action);
    case Kind::kApplyOn:
      return self + " applies on in slot " + std::to_string(action.slot.value());
    case Kind::kSend:
      return self + " -> " + std::to_string(action.to.value()) + "  " + describe_message(action);
    case Kind::kInstallSnapshot:
      return self + " installs a snapshot of" + below;
    case Kind::kFlush:
    case Kind::kWake:
      return {};
    case Kind::kReadSegment:
      return self + " reads the segment of " + name_of(action.incarnation);
    case Kind::kReadHistory:
      return self + " reads all segments";
    case Kind::kWriteSnapshot:
      return self + " writes a snapshot of" + below;
    case Kind::kPublishSnapshot:
      return self + " publishes a snapshot of" + below;
    case Kind::kLoadSnapshot:
      return self + " decodes a snapshot";
    case Kind::kFence:
      return self + " fences " + name_of(action.incarnation);
    case Kind::kLog:
      return self + " logs: " + std::string(action.line);
  }
  INGOT_CHECK(false, "an action has one of these kinds");
}

}  // namespace ingot::simulation
