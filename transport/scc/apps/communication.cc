#include "transport/scc/apps/communication.h"

#include <cstring>

#include "core/check.h"

namespace ingot::scc::inline transport_scc_apps {

int pair_rounds(int ranks) { return ranks % 2 == 0 ? ranks - 1 : ranks; }

// One rank stays in the middle (with an odd number, an empty place), the others form a circle. In round r, ranks whose
// numbers add up to r, modulo the circle, are partners; the rank that would be its own partner pairs with the middle.
int partner_of(int rank, int round, int ranks) {
  const int circle = pair_rounds(ranks);
  const auto facing = [&](int r) { return (round - r + circle) % circle; };
  if (rank == circle) {
    for (int r = 0; r < circle; ++r) {
      if (facing(r) == r) return r;
    }
  }
  const int other = facing(rank);
  if (other != rank) return other;
  return circle < ranks ? circle : -1;
}

void Communication::empty_mpb() {
  if (rcce_ == nullptr && broadcast_ == nullptr) return;  // not used yet
  barrier(core_, group());  // no core accesses this one's MPB any more
  rcce_ = nullptr;
  broadcast_ = nullptr;
  constexpr std::byte kZeros[kLineBytes] = {};
  for (std::size_t line = 0; line < kGoryLines; ++line) core_.write(mpb_line(core_.id(), line), kZeros);
  core_.flush_wcb();
  barrier(core_, group());
}

void Communication::broadcast(std::span<const Message> messages) {
  INGOT_CHECK(algorithm_ != nullptr);
  if (broadcast_ == nullptr) {
    empty_mpb();
    broadcast_ = algorithm_->make(core_, setup_);
  }
  broadcast_->broadcast_all(messages);
}

Rcce& Communication::sends() {
  if (rcce_ == nullptr) {
    empty_mpb();
    rcce_ = std::make_unique<Rcce>(core_, group());
  }
  return *rcce_;
}

void Communication::send(Address from, std::size_t bytes, int to_rank) {
  sends().send(from, bytes, group().core(to_rank));
}

void Communication::receive(Address to, std::size_t bytes, int from_rank) {
  sends().receive(to, bytes, group().core(from_rank));
}

void Communication::send_sized(Piece piece, int to_rank, Address scratch) {
  const std::uint64_t bytes = piece.bytes;
  std::memcpy(core_.private_memory().data() + scratch, &bytes, sizeof bytes);
  send(scratch, sizeof bytes, to_rank);
  send(piece.at, piece.bytes, to_rank);
}

std::size_t Communication::receive_sized(absl::FunctionRef<Address(std::size_t bytes)> where, int from_rank,
                                         Address scratch) {
  std::uint64_t bytes = 0;
  receive(scratch, sizeof bytes, from_rank);
  std::memcpy(&bytes, core_.private_memory().data() + scratch, sizeof bytes);
  receive(where(bytes), bytes, from_rank);
  return bytes;
}

void Communication::exchange(absl::FunctionRef<Piece(int to_rank)> outgoing,
                             absl::FunctionRef<Address(int from_rank, std::size_t bytes)> incoming, Address scratch) {
  const int rank = group().rank(core_.id());
  for (int round = 0; group().size() > 1 && round < pair_rounds(group().size()); ++round) {
    const int peer = partner_of(rank, round, group().size());
    if (peer < 0) continue;
    const auto where = [&](std::size_t bytes) { return incoming(peer, bytes); };
    if (rank < peer) send_sized(outgoing(peer), peer, scratch);  // sends are synchronous: one of the two sends first
    receive_sized(where, peer, scratch + sizeof(std::uint64_t));
    if (rank > peer) send_sized(outgoing(peer), peer, scratch);
  }
}

}  // namespace ingot::scc::transport_scc_apps
