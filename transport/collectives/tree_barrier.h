// A barrier over an ordered tree: arrivals go up, the release goes down, over lines with one writer each.
//
// An inbox, by lines, for a participant with k children:
//
//    line 0        word 0: the epoch in which its parent released it
//    line 1 + i    word 0: the epoch in which its child i arrived, with all below it
//
// So each edge of the tree has a line up and a line down, each near the one participant that polls it. Epochs only
// count up; nothing is reset. A line lags behind its reader by one epoch at most, and may be ahead of it by one, so a
// reader waits for "this epoch or later".
//
// The root does not wait for its first child before it tells that child that all others have arrived. The two exchange
// their halves of the tree at the same time, which shortens the longest path by one message; two participants need one
// exchange, the time of one message. Every other participant waits until its subtree has arrived, reports it, and waits
// for its release.
//
// Orders: kBarrierArrive (release) pairs with kBarrierGather (acquire), kBarrierRelease with kBarrierLeave. A
// participant that leaves an epoch sees what all participants did before they entered it. A participant that never
// arrives blocks all others for good: this barrier is for threads that live and die together, not for replicas.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/planning/tree.h"
#include "core/types.h"
#include "transport/memory.h"

namespace ingot::inline transport_collectives {

// How a participant waits; not part of the machine. Used by its thread only.
//  * until(done) returns when done() is true. It may return earlier, and then the barrier separates nothing: this
//    participant goes on as if it had been released, and so may all others. Only for callers that handle this
//    (client/openmp).
//  * wrote(receiver): a line that the receiver may be waiting for was stored; wake it if it sleeps.
template <typename W>
concept BarrierWaiting = requires(W& waiting, EndpointId receiver, bool (*done)()) {
  { waiting.until(done) } -> std::same_as<void>;
  { waiting.wrote(receiver) } -> std::same_as<void>;
};

constexpr std::uint32_t tree_barrier_lines(std::size_t children) { return 1 + static_cast<std::uint32_t>(children); }

// One participant's end. Used by its thread only.
template <Memory M>
class TreeBarrier {
 public:
  // Participants are the endpoints 0 .. tree.size() - 1; the barrier uses tree_barrier_lines(children) lines of each
  // inbox from `first_line` on. `epoch`: the epoch that all inboxes hold; zero-filled memory is epoch 0.
  // REQUIRES: a right tree; tree and `epoch` are equal on all participants.
  TreeBarrier(M memory, const Tree& tree, std::uint32_t first_line = 0, Word epoch = 0)
      : memory_(std::move(memory)), epoch_(epoch) {
    const auto self = static_cast<int>(memory_.self().value());
    INGOT_CHECK(self < tree.size());
    from_parent_ = line(self, first_line);
    for (int parent = 0; parent < tree.size(); ++parent) {
      const auto& children = tree.children[static_cast<std::size_t>(parent)];
      for (std::size_t i = 0; i < children.size(); ++i) {
        const std::uint32_t up = first_line + 1 + static_cast<std::uint32_t>(i);
        if (children[i] == self) {
          has_parent_ = true;
          parent_ = endpoint(parent);
          to_parent_ = line(parent, up);
        }
        if (parent == self) children_.push_back({endpoint(children[i]), line(self, up), line(children[i], first_line)});
      }
    }
    INGOT_CHECK(has_parent_ != (tree.root == self), "everybody but the root has a parent");
  }

  // Returns once all participants have called it as often as this one.
  template <BarrierWaiting W>
  void wait(W&& waiting) {
    ++epoch_;
    if (has_parent_) {
      gather(0, waiting);
      memory_.store_word(to_parent_, 0, epoch_, Site::kBarrierArrive);
      waiting.wrote(parent_);
      await(from_parent_, Site::kBarrierLeave, waiting);
      release(0, children_.size(), waiting);
    } else if (!children_.empty()) {
      gather(1, waiting);
      release(0, 1, waiting);  // the exchange with the first child
      await(children_[0].up, Site::kBarrierGather, waiting);
      release(1, children_.size(), waiting);
    }
  }

  // Number of calls of wait(), from the constructor's `epoch` on, modulo 2^32.
  Word epoch() const { return epoch_; }

 private:
  using Line = typename M::Line;
  struct Child {
    EndpointId endpoint;
    Line up, down;
  };

  static EndpointId endpoint(int participant) { return EndpointId(static_cast<std::uint16_t>(participant)); }
  Line line(int participant, std::uint32_t index) {
    INGOT_CHECK(index < memory_.inbox_lines(endpoint(participant)), "an inbox is too small");
    return memory_.line(endpoint(participant), index);
  }

  template <typename W>
  void await(const Line& line, Site site, W& waiting) {
    waiting.until([&] { return static_cast<std::int32_t>(memory_.load_word(line, 0, site) - epoch_) >= 0; });
  }

  // Waits for the arrival of all children from number `first` on. The misses on their lines overlap.
  template <typename W>
  void gather(std::size_t first, W& waiting) {
    for (std::size_t i = first + 1; i < children_.size(); ++i) memory_.prefetch(children_[i].up);
    for (std::size_t i = first; i < children_.size(); ++i) await(children_[i].up, Site::kBarrierGather, waiting);
  }

  template <typename W>
  void release(std::size_t first, std::size_t end, W& waiting) {
    for (std::size_t i = first; i < end; ++i) {
      memory_.store_word(children_[i].down, 0, epoch_, Site::kBarrierRelease);
      waiting.wrote(children_[i].endpoint);
    }
  }

  M memory_;
  bool has_parent_ = false;
  EndpointId parent_;
  Line to_parent_{}, from_parent_{};
  std::vector<Child> children_;  // in send order
  Word epoch_;
};

}  // namespace ingot::transport_collectives
