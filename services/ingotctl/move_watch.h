// Finds the holder of a role, and decides from one status after the other whether a move of it is done.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/ingot/control/v1/control.pb.h"

namespace ingot::inline services_ingotctl {

namespace control_v1 = ::ingot::control::v1;

// The holder of the role: of the running replicas that claim it, the one in the newest configuration. Null: none.
const control_v1::Replica* holder_of(control_v1::Role role, const control_v1::GetStatusResponse& status);

// Not thread-safe.
class MoveWatch {
 public:
  enum class Outcome { kPending, kDone, kLost };  // kLost: the roles changed, and another replica has this one

  // `ballot_before`: that of the configuration before the move; none if `to` had the role already.
  MoveWatch(control_v1::Role role, std::uint32_t to, std::optional<std::uint64_t> ballot_before)
      : role_(role), to_(to), ballot_before_(ballot_before) {}

  Outcome observe(const control_v1::GetStatusResponse& status);

  // True if nothing had to change.
  bool already() const { return !ballot_before_; }

  // The holder of the role in the last status: of the replicas that are up, the one in the newest configuration.
  const std::optional<control_v1::Replica>& holder() const { return holder_; }

 private:
  // A status is read while replicas write, so it may show an old role beside a new ballot.
  static constexpr int kPollsToBeSure = 5;

  control_v1::Role role_;
  std::uint32_t to_;
  std::optional<std::uint64_t> ballot_before_;
  std::optional<control_v1::Replica> holder_;
  int lost_polls_ = 0;  // in a row
};

}  // namespace ingot::services_ingotctl
