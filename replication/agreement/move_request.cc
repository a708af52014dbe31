#include "replication/agreement/move_request.h"

#include "core/wire.h"

namespace ingot::inline replication_agreement {

std::string encode_move(const RoleMove& move) {
  return WireWriter().u8(static_cast<std::uint8_t>(move.role)).u16(move.to.value()).take();
}

std::optional<RoleMove> decode_move(std::string_view bytes) {
  WireReader in(bytes);
  const std::uint8_t role = in.u8();
  const EndpointId to(in.u16());
  if (!in.ok() || role > static_cast<std::uint8_t>(Role::kAcceptor)) return std::nullopt;
  return RoleMove{static_cast<Role>(role), to};
}

std::string encode_move_answer(const absl::Status& answer) {
  return WireWriter().u8(static_cast<std::uint8_t>(answer.code())).raw(std::string(answer.message())).take();
}

std::optional<absl::Status> decode_move_answer(std::string_view bytes) {
  WireReader in(bytes);
  const std::uint8_t code = in.u8();
  const std::string_view text = in.rest();
  if (!in.ok() || code > static_cast<std::uint8_t>(absl::StatusCode::kUnauthenticated)) return std::nullopt;
  return absl::Status(static_cast<absl::StatusCode>(code), std::string(text));
}

}  // namespace ingot::replication_agreement
