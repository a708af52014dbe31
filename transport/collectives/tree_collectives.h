// Blocking broadcast, reduction and allreduce over an ordered tree: payload in lines along the tree's edges. The
// counterpart of tree_barrier.h; non-blocking collectives are in collectives.h.
//
// Each edge has a ring of R lines in each direction, near its reader, and a line for the credit, near its writer. An
// inbox, by lines, for a participant with k children; slot 0 is the edge to its parent, slot 1 + i that to child i:
//
//    slot s            word 0: number of lines read, of those that this participant wrote on that edge
//    1 + k + R s ...   ring: word 0 the line's number on that edge, from 1 on; payload from byte 8 on
//
// A line is its own notification: one line moves for each line of payload. Lines come in bursts; the reader waits for
// the last line of a burst, and reads the others without checking their numbers, so that their misses overlap. It
// returns credit twice a ring. The sites are NVP's, since the pairs are the same: notify -> poll: the burst is
// complete; return_credit -> take_credit: its lines may be overwritten. Counts are modulo 2^32.
//
// Data travels in windows of half a ring, so that lower participants start before upper ones have finished.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/collectives/tree_barrier.h"
#include "transport/memory.h"

namespace ingot::inline transport_collectives {

constexpr std::uint32_t tree_collectives_lines(std::size_t children, std::uint32_t ring_lines) {
  return static_cast<std::uint32_t>(children + 1) * (1 + ring_lines);
}

// One participant's end. Used by its thread only. All participants call the same operations in the same order, with
// equally many bytes; each call returns when this participant's part is done, which may be before the others'.
template <Memory M>
class TreeCollectives {
 public:
  // As for TreeBarrier. `ring_lines`, the same for all participants: 2 or more, even. Memory starts zero-filled.
  TreeCollectives(M memory, const Tree& tree, std::uint32_t ring_lines, std::uint32_t first_line = 0)
      : memory_(std::move(memory)), ring_lines_(ring_lines), window_bytes_(ring_lines / 2 * kPayloadBytes) {
    INGOT_CHECK(ring_lines >= 2 && ring_lines % 2 == 0);
    const auto self = static_cast<int>(memory_.self().value());
    INGOT_CHECK(self < tree.size());
    for (int parent = 0; parent < tree.size(); ++parent) {
      const auto& children = tree.children[static_cast<std::size_t>(parent)];
      for (std::size_t i = 0; i < children.size(); ++i) {
        if (children[i] != self) continue;
        first_child_of_root_ = i == 0 && parent == tree.root;
        parent_.push_back(edge(tree, self, 0, parent, i + 1, first_line));
      }
    }
    const auto& children = tree.children[static_cast<std::size_t>(self)];
    for (std::size_t i = 0; i < children.size(); ++i) {
      children_.push_back(edge(tree, self, i + 1, children[i], 0, first_line));
    }
  }

  // Copies the root's data into all participants'.
  template <BarrierWaiting W>
  void broadcast(std::span<std::byte> data, W&& waiting) {
    for_windows(data, [&](std::span<std::byte> window) {
      if (!parent_.empty()) receive(parent_[0], window, waiting, kCopy);
      for (Edge& child : children_) send(child, window, waiting);
    });
  }

  // Combines all participants' data into the root's; that of inner participants is overwritten. `combine(target,
  // source)` changes target[i] to target[i] o source[i] for a few whole elements of 1, 2, 4 or 8 bytes; o is
  // associative and commutative. Operands come in the tree's order, so the same tree gives the same result to the last
  // bit.
  template <typename Combine, BarrierWaiting W>
  void reduce(std::span<std::byte> data, Combine&& combine, W&& waiting) {
    for_windows(data, [&](std::span<std::byte> window) {
      for (Edge& child : children_) receive(child, window, waiting, combine);
      if (!parent_.empty()) send(parent_[0], window, waiting);
    });
  }

  // A reduction whose result is copied into all participants' data, the same to the last bit. The root and its first
  // child exchange their partial results at the same time, as in the barrier.
  template <typename Combine, BarrierWaiting W>
  void allreduce(std::span<std::byte> data, Combine&& combine, W&& waiting) {
    for_windows(data, [&](std::span<std::byte> window) {
      const bool root = parent_.empty();
      for (std::size_t i = root ? 1 : 0; i < children_.size(); ++i) receive(children_[i], window, waiting, combine);
      if (root && !children_.empty()) {
        send(children_[0], window, waiting);
        receive(children_[0], window, waiting, combine);
      } else if (!root) {
        send(parent_[0], window, waiting);
        if (first_child_of_root_) {
          receive(parent_[0], window, waiting, swapped(combine));
        } else {
          receive(parent_[0], window, waiting, kCopy);
        }
      }
      for (std::size_t i = root ? 1 : 0; i < children_.size(); ++i) send(children_[i], window, waiting);
    });
  }

 private:
  using Line = typename M::Line;
  static constexpr std::size_t kHeaderBytes = 8;
  static constexpr std::size_t kPayloadBytes = M::kLineBytes - kHeaderBytes;  // whole elements of up to 8 bytes
  static constexpr std::uint32_t kBurstLines = 8;  // at most, and at most half a ring

  struct Edge {
    EndpointId peer;
    std::uint32_t ring_out, ring_in;  // first line, in the peer's and in this inbox
    Line credit_out, credit_in;       // that the peer writes, and that this participant writes
    Word written = 0, credit = 0;     // lines sent, and of these known to be read
    Word read = 0, returned = 0;      // lines received, and of these given back
  };

  static constexpr auto kCopy = [](std::span<std::byte> target, std::span<const std::byte> source) {
    std::copy(source.begin(), source.end(), target.begin());
  };
  // target = source o target.
  template <typename Combine>
  static auto swapped(Combine& combine) {
    return [&combine](std::span<std::byte> target, std::span<const std::byte> source) {
      alignas(8) std::array<std::byte, kPayloadBytes> left;
      std::copy(source.begin(), source.end(), left.begin());
      combine(std::span(left).first(source.size()), std::span<const std::byte>(target));
      std::copy_n(left.begin(), target.size(), target.begin());
    };
  }

  static EndpointId endpoint(int participant) { return EndpointId(static_cast<std::uint16_t>(participant)); }

  Edge edge(const Tree& tree, int self, std::size_t slot, int peer, std::size_t peer_slot, std::uint32_t first_line) {
    const auto place = [&](int participant, std::size_t at) {
      const std::size_t children = tree.children[static_cast<std::size_t>(participant)].size();
      const std::uint32_t end = first_line + tree_collectives_lines(children, ring_lines_);
      INGOT_CHECK(end <= memory_.inbox_lines(endpoint(participant)), "an inbox is too small");
      return std::pair(memory_.line(endpoint(participant), first_line + static_cast<std::uint32_t>(at)),
                       first_line + static_cast<std::uint32_t>(1 + children + at * ring_lines_));
    };
    const auto [own_credit, own_ring] = place(self, slot);
    const auto [peer_credit, peer_ring] = place(peer, peer_slot);
    return {endpoint(peer), peer_ring, own_ring, own_credit, peer_credit};
  }

  template <typename Each>
  void for_windows(std::span<std::byte> data, Each&& each) {
    for (; data.size() > window_bytes_; data = data.subspan(window_bytes_)) each(data.first(window_bytes_));
    if (!data.empty()) each(data);
  }

  // Both ends divide the same data into the same bursts.
  std::size_t burst_bytes() const { return std::min(kBurstLines, ring_lines_ / 2) * kPayloadBytes; }
  static Word lines_of(std::size_t bytes) { return static_cast<Word>((bytes + kPayloadBytes - 1) / kPayloadBytes); }

  template <typename W>
  void send(Edge& edge, std::span<const std::byte> data, W& waiting) {
    while (!data.empty()) {
      const auto burst = data.first(std::min(burst_bytes(), data.size()));
      const Word end = edge.written + lines_of(burst.size());
      if (end - edge.credit > ring_lines_) take_credit(edge, end, waiting);
      for (std::size_t at = 0; at < burst.size(); at += kPayloadBytes) {
        const Line line = memory_.line(edge.peer, edge.ring_out + edge.written % ring_lines_);
        memory_.copy_in(line, kHeaderBytes, burst.subspan(at, std::min(kPayloadBytes, burst.size() - at)));
        ++edge.written;
        memory_.store_word(line, 0, edge.written, edge.written == end ? Site::kNvpNotify : Site::kRelaxed);
      }
      data = data.subspan(burst.size());
    }
    waiting.wrote(edge.peer);
  }

  template <typename W>
  void take_credit(Edge& edge, Word end, W& waiting) {
    waiting.wrote(edge.peer);
    waiting.until([&] {
      edge.credit = memory_.load_word(edge.credit_out, 0, Site::kNvpTakeCredit);
      return end - edge.credit <= ring_lines_;
    });
  }

  template <typename W, typename Use>
  void receive(Edge& edge, std::span<std::byte> data, W& waiting, Use&& use) {
    alignas(8) std::array<std::byte, kPayloadBytes> payload;
    while (!data.empty()) {
      const auto burst = data.first(std::min(burst_bytes(), data.size()));
      const Word end = edge.read + lines_of(burst.size());
      const Line last = memory_.line(memory_.self(), edge.ring_in + (end - 1) % ring_lines_);
      waiting.until([&] { return memory_.load_word(last, 0, Site::kNvpPoll) == end; });
      for (std::size_t at = 0; at < burst.size(); at += kPayloadBytes, ++edge.read) {
        const auto part = burst.subspan(at, std::min(kPayloadBytes, burst.size() - at));
        const Line line = memory_.line(memory_.self(), edge.ring_in + edge.read % ring_lines_);
        memory_.copy_out(line, kHeaderBytes, payload.data(), part.size());
        use(part, std::span<const std::byte>(payload).first(part.size()));
      }
      if (edge.read - edge.returned >= ring_lines_ / 2) return_credit(edge, waiting);
      data = data.subspan(burst.size());
    }
  }

  template <typename W>
  void return_credit(Edge& edge, W& waiting) {
    edge.returned = edge.read;
    memory_.store_word(edge.credit_in, 0, edge.read, Site::kNvpReturnCredit);
    waiting.wrote(edge.peer);
  }

  M memory_;
  const std::uint32_t ring_lines_;
  const std::size_t window_bytes_;
  bool first_child_of_root_ = false;
  std::vector<Edge> parent_;  // one, or none at the root
  std::vector<Edge> children_;
};

}  // namespace ingot::transport_collectives
