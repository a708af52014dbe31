// How a replica that is too far behind for its peers' logs gets a snapshot from one of them.
//
// The reader asks one peer at a time and confirms what has arrived; the peer sends at most a window beyond what is
// confirmed. If the peer dies, falls silent, has no snapshot or sends nonsense, the reader asks the next one, which
// goes on where the first ended if it has the very same file. Pure: messages, ticks and deaths in, messages out. Not
// thread-safe.
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

namespace ingot::inline replication_replica_snapshots {

using SendSnapshotMessage = absl::FunctionRef<void(EndpointId to, std::string message)>;

// The side that needs a snapshot.
class SnapshotReader {
 public:
  // `let_go`: takes the received bytes of a file that is given up, which may be many. Null: they are freed in place.
  explicit SnapshotReader(Incarnation self, std::function<void(ReceivedFile)> let_go = nullptr,
                          const SnapshotBounds& bounds = {})
      : self_(self), bounds_(bounds), let_go_(std::move(let_go)) {}

  // Asks the peers in this order, each at most once, for a snapshot that holds more than the slots below `above`. A
  // transfer that is under way goes on instead.
  void start(Slot above, std::vector<EndpointId> peers, SendSnapshotMessage send);

  // A message of class kSnapshot. A message that is malformed, for another incarnation, late, or from a peer that was
  // not asked is refused and changes nothing.
  void receive(EndpointId from, const SnapshotMessage& message, SendSnapshotMessage send);
  void peer_gone(EndpointId peer, SendSnapshotMessage send);
  void tick(SendSnapshotMessage send);

  // True from start() until a whole file has arrived, or every peer was asked in vain. Agreement then asks for a
  // snapshot again if it still needs one.
  bool active() const { return active_; }

  // A whole file with correct checksums has arrived. It stays until take() or start().
  bool complete() const { return complete_; }
  SnapshotName name() const { return name_; }  // of the whole file, or of the one being read; 0 bytes: neither
  ReceivedFile take();

  // Drops the file and stops asking: the replica has caught up otherwise, or cannot use the file.
  void give_up();

  std::uint64_t refused() const { return refused_; }  // messages, and files with wrong content

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
  std::size_t asked_ = 0;  // how many of peers_ were asked; the last of these is being asked
  std::uint64_t round_ = 0;
  bool named_ = false;      // a part of this round has named the file
  bool advanced_ = false;   // a part of this round was appended
  int silent_ticks_ = 0;    // since the last message of the peer
  int fruitless_ticks_ = 0;  // since the last part that was appended
  SnapshotName name_;
  ReceivedFile file_;     // the first bytes of the file name_
  RunningHash checksum_;  // of file_ without the header
  std::size_t confirmed_ = 0;
  std::uint64_t refused_ = 0;
};

// The side that has a snapshot, or can make one.
class SnapshotServer {
 public:
  struct File {
    SnapshotName name;
    std::string_view bytes;
    std::shared_ptr<const void> memory;  // of bytes
  };

  explicit SnapshotServer(const SnapshotBounds& bounds = {}) : bounds_(bounds) {}

  // The replica has a newer snapshot. Readers of the one before go on with that one.
  void offer(std::shared_ptr<const File> file, SendSnapshotMessage send);

  // `applied`: slots below it are applied here, so a new snapshot would hold them. `useful_from`: a file of an earlier
  // slot is not sent.
  void receive(EndpointId from, const SnapshotMessage& message, Slot applied, Slot useful_from,
               SendSnapshotMessage send);
  void peer_gone(EndpointId peer) { readers_.erase(peer); }

  // A reader waits for a newer snapshot than the last of offer().
  bool wanted() const;
  // No snapshot can be made here.
  void none(SendSnapshotMessage send);

  // Sends a few parts, in turn, to the readers whose window has room and for which `ready` is true. Returns the number
  // of parts sent.
  int send_parts(absl::FunctionRef<bool(EndpointId)> ready, SendSnapshotMessage send);
  void tick(SendSnapshotMessage send);
  bool serves() const { return !readers_.empty(); }  // true: needs tick() and send_parts()

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
  EndpointId turn_{};                     // the reader that had its turn last
  int wait_ticks_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace ingot::replication_replica_snapshots
