// RCCE, the SCC's own message library: its upper interface. One object a core, used by that core's program.
//
// send and receive are synchronous. The sender puts a chunk into its **own** MPB, raises `sent` at the receiver and
// spins on `ready`; the receiver spins on `sent`, clears it, gets the chunk into private memory and raises `ready`; the
// sender clears that. Then the next chunk. (papers, section 3.) Of an MPB's 8 KiB, 4 are for the chunk; flags take one
// line each, `sent` and `ready` for each other core, which makes the papers' other 4:
//
//    line 0 ....... 127   128 ....... 175   176 ........ 223   224 ..... 253   254, 255
//    |  chunk            | sent, by sender | ready, by recv.  | gory: free     | barrier
//
// Every flag is 0 while no message is under way, so another user of the same layout may come next.
#pragma once

#include <cstddef>

#include "transport/scc/rcce/gory.h"
#include "transport/scc/rcce/group.h"

namespace ingot::scc::inline transport_scc_rcce {

inline constexpr std::size_t kRcceChunkBytes = 4096;
inline constexpr std::size_t kRcceChunkLines = kRcceChunkBytes / kLineBytes;

class Rcce {
 public:
  // REQUIRES: the group contains the core; the lines above are 0 in all MPBs of the group.
  Rcce(Core& core, const Group& group);

  // Both are called with the same number of bytes; 0 is allowed and sends nothing. They return when the message is in
  // the receiver's private memory.
  // REQUIRES: the other core is another one of the group.
  void send(Address from, std::size_t bytes, int to_core);
  void receive(Address to, std::size_t bytes, int from_core);

  void barrier() { scc::barrier(core_, group_); }

  // The root sends to every other core in turn: n - 1 unicasts. Collective.
  void broadcast(Address at, std::size_t bytes, int root);

  // ---- One chunk at a time, for protocols that process chunks in their own way ----

  // `ready` has been cleared when these return; the chunk may be overwritten.
  void announce(int to_core) { write_flag(core_, sent_from(core_.id()), 1, to_core); }
  void await_ready(int from_core);
  // `sent` has been cleared when this returns.
  void await_announcement(int from_core);
  void acknowledge(int to_core) { write_flag(core_, ready_from(core_.id()), 1, to_core); }

  static MpbFlag sent_from(int sender) { return {kRcceChunkLines + static_cast<std::size_t>(sender)}; }
  static MpbFlag ready_from(int receiver) { return {kRcceChunkLines + kCores + static_cast<std::size_t>(receiver)}; }

  RcceGory& gory() { return gory_; }
  Core& core() { return core_; }
  const Group& group() const { return group_; }

 private:
  Core& core_;
  const Group group_;
  RcceGory gory_;
};

}  // namespace ingot::scc::transport_scc_rcce
