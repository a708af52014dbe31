#include "services/access/caller_codec.h"

#include "core/wire.h"

namespace ingot::inline services_access {

namespace {

constexpr std::uint8_t kHasCredentials = 1;

}  // namespace

std::string encode_caller(const Caller& caller) {
  WireWriter out;
  out.u8(caller.door == Caller::Door::kUnix ? 1 : 0).bytes(caller.address);
  if (!caller.credentials) return out.u8(0).take();
  return out.u8(kHasCredentials)
      .u32(caller.credentials->uid)
      .u32(caller.credentials->gid)
      .u32(static_cast<std::uint32_t>(caller.credentials->pid))
      .take();
}

std::optional<Caller> decode_caller(std::string_view bytes) {
  WireReader in(bytes);
  Caller caller;
  const std::uint8_t door = in.u8();
  caller.door = door == 1 ? Caller::Door::kUnix : Caller::Door::kTcp;
  caller.address = std::string(in.bytes());
  const std::uint8_t has_credentials = in.u8();
  if (has_credentials == kHasCredentials) {
    const uid_t uid = in.u32();
    const gid_t gid = in.u32();
    caller.credentials = Caller::Credentials{uid, gid, static_cast<pid_t>(in.u32())};
  }
  if (!in.ok() || door > 1 || has_credentials > kHasCredentials) return std::nullopt;
  return caller;
}

}  // namespace ingot::services_access
