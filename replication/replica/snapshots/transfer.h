// How a replica that is too far behind for its peers' logs gets a snapshot from one of them.
//
// The reader asks one peer at a time and confirms what has arrived; the peer never has more than a window under way to it.
// If the peer dies, falls silent, has nothing or sends nonsense, the next one is asked, and goes on where the first
// ended if it has the very same file. Pure: messages, ticks and deaths in, messages out. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/stable_hash.h"
#include "core/types.h"
#include "replication/replica/snapshots/format.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/messages.h"
#include "replication/replica/snapshots/received_file.h"

namespace ingot {

using SendSnapshotMessage = absl::FunctionRef<void(EndpointId to, std::string message)>;

// The side that needs one.
class SnapshotReader {
 public:
  // `let_go`: gets what came of a file that is not used; it may be large. Null: it ends here.
  explicit SnapshotReader(Incarnation self, std::function<void(ReceivedFile)> let_go = nullptr,
                          const SnapshotBounds& bounds = {})
      : self_(self), bounds_(bounds), let_go_(std::move(let_go)) {}

  // Asks the peers in this order, each at most once, for a snapshot of more than the slots below `above`. If one is being
  // read already, that one goes on.
  void start(Slot above, std::vector<EndpointId> peers, SendSnapshotMessage send);

  // Of class kSnapshot. Refused, and nothing changes: what is malformed, for another incarnation, late, or from
  // somebody who was not asked.
  void receive(EndpointId from, const SnapshotMessage& message, SendSnapshotMessage send);
  void peer_gone(EndpointId peer, SendSnapshotMessage send);
  void tick(SendSnapshotMessage send);

  // Until a whole file is there, or everybody has been asked in vain: then agreement will say so again.
  bool active() const { return active_; }

  // A file is there, whole and with right checksums. It stays until take() or start().
  bool complete() const { return complete_; }
  SnapshotName name() const { return name_; }  // also of one that is being read; without bytes: none is
  ReceivedFile take();

  // The replica knows as much by now, or the file turned out to be no use.
  void give_up();

  std::uint64_t refused() const { return refused_; }  // messages, and files with a wrong content

 private:
  void ask_next(SendSnapshotMessage send);
  void ask(SendSnapshotMessage send);
  void send_ask(SendSnapshotMessage send);
  void take_part(const SnapshotMessage& part, SendSnapshotMessage send);
  void finish(SendSnapshotMessage send);
  bool append(std::string_view part);
  void forget_file();

  Incarnation self_;
  SnapshotBounds bounds_;
  std::function<void(ReceivedFile)> let_go_;
  bool active_ = false;
  bool complete_ = false;
  Slot above_;
  std::vector<EndpointId> peers_;
  std::size_t asked_ = 0;  // of peers_; the last of these is being asked
  std::uint64_t round_ = 0;
  bool named_ = false;      // in this round
  bool advanced_ = false;   // likewise: a part was of use
  int silent_ticks_ = 0;    // without a word
  int fruitless_ticks_ = 0;  // without a part
  SnapshotName name_;
  ReceivedFile file_;     // its first bytes
  RunningHash checksum_;  // of these, without the header
  std::size_t confirmed_ = 0;
  std::uint64_t refused_ = 0;
};

// The side that has one, or can make one.
class SnapshotServer {
 public:
  struct File {
    SnapshotName name;
    std::string_view bytes;
    std::shared_ptr<const void> memory;  // of bytes
  };

  explicit SnapshotServer(const SnapshotBounds& bounds = {}) : bounds_(bounds) {}

  // A snapshot that is here, newer than the one before. Whoever reads the one before reads on.
  void offer(std::shared_ptr<const File> file, SendSnapshotMessage send);

  // `applied`: slots below it are applied here, so what a new snapshot would hold. `useful_from`: an older file is
  // offered to nobody.
  void receive(EndpointId from, const SnapshotMessage& message, Slot applied, Slot useful_from,
               SendSnapshotMessage send);
  void peer_gone(EndpointId peer) { readers_.erase(peer); }

  // Somebody waits for a snapshot of more than what offer() has brought.
  bool wanted() const;
  // No snapshot can be made here.
  void none(SendSnapshotMessage send);

  // Sends a few parts to those who have room for them in their window, and of whom `ready` says so, in turn. Returns how
  // many.
  int send_parts(absl::FunctionRef<bool(EndpointId)> ready, SendSnapshotMessage send);
  void tick(SendSnapshotMessage send);
  bool serves() const { return !readers_.empty(); }  // so it wants ticks, and its parts sent

  std::uint64_t refused() const { return refused_; }

 private:
  struct Reader {
    Incarnation incarnation;
    std::uint64_t round = 0;
    Slot above;
    std::shared_ptr<const File> file;  // null: it waits for one
    std::uint64_t sent = 0;            // bytes; sent - confirmed is at most a window
    std::uint64_t confirmed = 0;
    int silent_ticks = 0;
  };

  void begin(EndpointId from, const SnapshotMessage& ask, Slot applied, Slot useful_from, SendSnapshotMessage send);
  bool confirm(Reader& reader, const SnapshotMessage& ask);
  bool send_part(EndpointId to, Reader& reader, SendSnapshotMessage send);
  static SnapshotMessage answer(const Reader& reader, SnapshotMessageType type);

  SnapshotBounds bounds_;
  std::shared_ptr<const File> newest_;
  std::map<EndpointId, Reader> readers_;  // at most one for each replica
  EndpointId turn_{};                     // whose turn it was last
  int wait_ticks_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot
