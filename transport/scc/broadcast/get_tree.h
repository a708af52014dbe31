// OC-Bcast's pipeline of on-chip gets (papers, section 5), over any tree.
//
// A message goes in chunks of up to 96 lines through two buffers in each MPB. A flag is a line that holds a chunk's
// number, counted over all broadcasts of the group:
//
//    line 0 ........ 95   96 ....... 191   192      193 .......... 239   240, 241   254, 255
//    | buffer 0         | buffer 1        | notify | done, by child    | pushed   | barrier
//
//    source, chunk c   wait until its children are done with c - 2; private memory -> own MPB; notify
//    others, chunk c   wait until notified; notify siblings; wait until the own children are done with c - 2;
//                      parent's MPB -> own MPB; done flag at the parent; notify own children; own MPB -> private memory
//
// Pushing trees send messages of up to 28 bytes differently: a parent writes number and payload as one line into each
// child's MPB, so no notification and no get is needed.
//
//    others, push c    wait for the line; push to the own children, when they are done with c - 2; to private memory;
//                      done flag at the parent
//
// Numbers keep the flags apart while the tree stays the same. When it changes (another source), flags of one broadcast
// could overtake those of another, so all cores meet at a barrier first.
#pragma once

#include <map>

#include "transport/scc/broadcast/broadcast.h"
#include "transport/scc/broadcast/place_in_tree.h"
#include "transport/scc/rcce/gory.h"

namespace ingot::scc::inline transport_scc_broadcast {

inline constexpr std::size_t kGetChunkLines = 96;
inline constexpr std::size_t kGetChunkBytes = kGetChunkLines * kLineBytes;
inline constexpr std::size_t kGetBuffers = 2;
inline constexpr std::size_t kPushBytes = kLineBytes - sizeof(std::uint32_t);

class GetTree : public Broadcast {
 public:
  // How children are notified: by a binary tree over a parent and its children (OC-Bcast), or by the parent, each in
  // order.
  enum class Notify { kSiblings, kParent };

  GetTree(Core& core, const Group& group, Notify notify, bool push)
      : Broadcast(core, group), notify_(notify), push_(push) {}

 protected:
  // The tree for a message of that size, the same on all cores; `kind` distinguishes trees of one source.
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
  std::uint32_t chunk_ = 0;       // the current chunk's number; the first is 1
  std::uint32_t first_chunk_ = 1; // on the current tree
};

}  // namespace ingot::scc::transport_scc_broadcast
