// An operator's request to move a role, and its answer: the payloads of RequestKind::kMove.
//
//   move    u8 role  u16 to
//   answer  u8 code (absl::StatusCode)  text to the end
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/types.h"
#include "replication/agreement/status.h"

namespace ingot::inline replication_agreement {

// The arguments of Agreement::move.
struct RoleMove {
  Role role = Role::kLeader;
  EndpointId to;

  bool operator==(const RoleMove&) const = default;
};

std::string encode_move(const RoleMove& move);
std::optional<RoleMove> decode_move(std::string_view bytes);

// `answer`: the result of Agreement::move.
std::string encode_move_answer(const absl::Status& answer);
std::optional<absl::Status> decode_move_answer(std::string_view bytes);

}  // namespace ingot::replication_agreement
