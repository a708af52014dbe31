#include "transport/scc/rcce/rcce.h"

#include <algorithm>

#include "core/check.h"

namespace ingot::scc::inline transport_scc_rcce {

Rcce::Rcce(Core& core, const Group& group) : core_(core), group_(group), gory_(core) {
  INGOT_CHECK(group.contains(core.id()), "this core does not take part");
  const auto chunk = gory_.allocate(kRcceChunkBytes);
  INGOT_CHECK(chunk.has_value() && chunk->line == 0);
  for (int i = 0; i < 2 * kCores; ++i) {
    const auto flag = gory_.allocate_flag();
    INGOT_CHECK(flag.has_value() && flag->line == sent_from(0).line + static_cast<std::size_t>(i));
  }
}

void Rcce::await_ready(int from_core) {
  wait_flag(core_, ready_from(from_core), 1, "a ready flag");
  write_flag(core_, ready_from(from_core), 0, core_.id());
}

void Rcce::await_announcement(int from_core) {
  wait_flag(core_, sent_from(from_core), 1, "a sent flag");
  write_flag(core_, sent_from(from_core), 0, core_.id());
}

void Rcce::send(Address from, std::size_t bytes, int to_core) {
  INGOT_CHECK(group_.contains(to_core) && to_core != core_.id(), "a message goes to another core of the group");
  for (std::size_t done = 0; done < bytes; done += kRcceChunkBytes) {
    const std::size_t chunk = std::min(kRcceChunkBytes, bytes - done);
    put(core_, core_.id(), 0, from + static_cast<Address>(done), chunk);
    announce(to_core);
    await_ready(to_core);
  }
}

void Rcce::receive(Address to, std::size_t bytes, int from_core) {
  INGOT_CHECK(group_.contains(from_core) && from_core != core_.id(), "a message comes from another core of the group");
  for (std::size_t done = 0; done < bytes; done += kRcceChunkBytes) {
    const std::size_t chunk = std::min(kRcceChunkBytes, bytes - done);
    await_announcement(from_core);
    get(core_, to + static_cast<Address>(done), from_core, 0, chunk);
    acknowledge(from_core);
  }
}

void Rcce::broadcast(Address at, std::size_t bytes, int root) {
  if (core_.id() != root) return receive(at, bytes, root);
  for (const int other : group_.cores()) {
    if (other != root) send(at, bytes, other);
  }
}

}  // namespace ingot::scc::transport_scc_rcce
