// The pipelined tree of on-chip gets that OC-Bcast is made of (papers, section 5), over any tree.
//
// A message goes in chunks of up to 96 lines through two buffers in each MPB. Flags are lines that hold the number of a
// chunk, counted over all broadcasts of the group:
//
//    line 0 ........ 95   96 ....... 191   192      193 .......... 239   240, 241   254, 255
//    | buffer 0         | buffer 1        | notify | done, by child    | pushed   | barrier
//
//    source, chunk c   wait until its children are done with c - 2; private memory -> own MPB; notify
//    others, chunk c   wait until notified; notify siblings; wait until the own children are done with c - 2;
//                      parent's MPB -> own MPB; done flag at the parent; notify own children; own MPB -> private memory
//
// Trees that push send messages of up to 28 bytes otherwise: a parent writes number and payload as one line into each
// child's MPB, so there is nothing to notify of and nothing to get.
//
//    others, push c    wait for the line; push to the own children, when they are done with c - 2; to private memory;
//                      done flag at the parent
//
// Numbers keep the flags right as long as the tree stays the same. When it changes (another source), flags of two
// broadcasts could overtake one another, so all meet at a barrier first.
#pragma once

#include <map>

#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/broadcast/place_in_tree.h"
#include "transport/scc/rcce/gory.h"

namespace ingot::scc {

inline constexpr std::size_t kGetChunkLines = 96;
inline constexpr std::size_t kGetChunkBytes = kGetChunkLines * kLineBytes;
inline constexpr std::size_t kGetBuffers = 2;
inline constexpr std::size_t kPushBytes = kLineBytes - sizeof(std::uint32_t);

class GetTree : public Broadcast {
 public:
  // Who notifies whom: a binary tree over a parent and its children (OC-Bcast), or the parent each child in order.
  enum class Notify { kSiblings, kParent };

  GetTree(Core& core, const Group& group, Notify notify, bool push)
      : Broadcast(core, group), notify_(notify), push_(push) {}

 protected:
  // The tree for such a message, the same on all cores; `kind` tells trees of one source apart.
  virtual int kind_of(std::size_t bytes) const;
  virtual Tree make_tree(int source, int kind) const = 0;

 private:
  void run(const Message& message) override;
  void change_tree(int source, int kind);
  void send_chunk(Address from, std::size_t bytes);
  void receive_chunk(Address to, std::size_t bytes);
  void push(const Message& message);
  void notify_siblings();
  void notify_children();
  void await_buffer();

  const Notify notify_;
  const bool push_;
  std::map<std::pair<int, int>, PlaceInTree> places_;  // by source and kind
  const PlaceInTree* place_ = nullptr;
  std::uint32_t chunk_ = 0;       // the number of the current one; the first is 1
  std::uint32_t first_chunk_ = 1; // on the current tree
};

}  // namespace ingot::scc
