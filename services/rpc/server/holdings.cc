#include "services/rpc/server/holdings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ingot::rpc::inline server {

std::size_t Holdings::held_bytes() const {
  return received_bytes + head_bytes + output_bytes + http2_bytes + stream_bytes;
}

std::size_t Holdings::share_of(std::size_t max) const { return std::max(own_, max - std::min(max, held_bytes())); }

bool Holdings::allows(std::size_t bytes) const { return bytes <= share_of(max_); }

bool Holdings::allows_http2(std::size_t bytes) const { return bytes <= share_of(max_ + spare_); }

bool Holdings::make_room_for_received(const Holder& holder) {
  while (received_bytes > received_max_) {
    const auto less = [](const Holder& a, const Holder& b) { return a.received_bytes() < b.received_bytes(); };
    const auto most = std::max_element(holders_.begin(), holders_.end(), less);
    if (most == holders_.end() || most->received_bytes() <= holder.received_bytes()) return false;
    const std::size_t before = received_bytes;
    most->drop_received();
    if (received_bytes >= before) return false;  // otherwise this would not end
  }
  return true;
}

std::string Holdings::refusal(const Holder& holder, std::uint64_t now_ns) {
  const Greatest& most = greatest(now_ns);
  std::string why = absl::StrCat("too much memory is taken for clients: ", held_bytes(), " of ", max_,
                                 " bytes, the most (", most.held, ") by ");
  if (most.holder == &holder) return why + "this connection";
  return absl::StrCat(why, most.name, ", one of ", most.holders, " connections; this one has ", holder.held_bytes(),
                      " and may have ", share_of(max_));
}

const Holdings::Greatest& Holdings::greatest(std::uint64_t round_ns) {
  if (greatest_.round_ns == round_ns) return greatest_;
  greatest_ = {round_ns, nullptr, "", 0, 0};
  for (const Holder& each : holders_) {
    ++greatest_.holders;
    if (greatest_.holder != nullptr && each.held_bytes() <= greatest_.held) continue;
    greatest_.holder = &each;
    greatest_.held = each.held_bytes();
  }
  if (greatest_.holder != nullptr) greatest_.name = greatest_.holder->holder().address;
  return greatest_;
}

}  // namespace ingot::rpc::server
