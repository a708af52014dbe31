// The content of a stable segment, for its readers: the group, once the writer is dead, and tests.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/host/writer_lock.h"

namespace ingot::inline replication_stable {

// What a segment holds, in numbers that are read without its records.
struct StableExtent {
  Slot accepted_end;     // above every slot that its writer has voted for
  Ballot leader_ballot;  // of its writer's last completed takeover; 0: none
};

// A copy: holds no reference to the segment.
struct StableView {
  using Command = std::shared_ptr<const std::string>;
  struct Entry {
    Ballot ballot;
    Command command;  // never null
  };

  EndpointId replica;
  Incarnation incarnation;

  // As acceptor or voter, in its last epoch. Entries below `trimmed` are left out; of several votes for one slot the
  // last counts. accepted_end is above every entry, left out or not.
  Epoch epoch;
  Ballot promised;
  Slot trimmed;
  std::map<Slot, Entry> accepted;
  Slot accepted_end;
  std::map<Slot, bool> committed;  // 2PC: the outcome, if stored; false: aborted
  // Votes of earlier epochs, from `trimmed` on. In 1Paxos these are decisions, since what an acceptor stored was
  // chosen.
  std::map<Slot, Command> history;

  // As leader: the last completed takeover, and the proposals under its ballot and under later ballots (of takeovers
  // that were not completed).
  Epoch leader_epoch;
  Ballot leader_ballot;
  Slot leader_trimmed;  // proposals of that ballot below it are left out
  std::map<Ballot, std::map<Slot, Command>> proposed;
  Slot proposed_end;  // above every proposal of that ballot, left out or not

  // Whether this incarnation had inherited all that its predecessors stored before it died; otherwise theirs counts.
  bool may_be_inherited() const { return incarnation == Incarnation(1) || !configuration.empty(); }

  // The stored part of the configuration log, including its votes (replication/agreement/one_paxos/config_log.h); empty
  // if nothing was stored.
  std::string configuration;

  // Not 0 only if the segment was released (replication/stable/incarnation_segments.h): all that its writer voted for
  // is below this slot, and a published snapshot holds the slots below it. Nothing else is known then.
  Slot released_below;

  // What is known of a released segment.
  static StableView released(EndpointId replica, Incarnation incarnation, Slot below);

  // Reads the bytes of a stable segment. Trusts no byte: checks every number before it uses it, and changes nothing. If
  // writer_state() returned kGone before the call, the result is the writer's final state. While the writer lives, each
  // part is of some recent state, and the records may be of a later one than the rest, so that votes which the writer
  // has trimmed meanwhile are missing; or it is DATA_LOSS if the writer overtook the reader: then read again. Commands
  // of slots below `from` are checked but not copied.
  //
  // REQUIRES: the memory is aligned to 64 bytes, as mapped segments are. Errors: NOT_FOUND (no writer has opened it
  // yet, so nothing was stored), DATA_LOSS (not the bytes of a writer).
  static absl::StatusOr<StableView> read(std::span<const std::byte> segment, Slot from = Slot(0));

  // The same without the records, which may be damaged: all that an incarnation of 1Paxos inherits.
  static absl::StatusOr<StableView> read_without_records(std::span<const std::byte> segment);

  // The incarnation of the segment's writer; nothing if no writer has opened it, or it is not a segment.
  static std::optional<Incarnation> incarnation_in(std::span<const std::byte> segment);

  // True: the segment's incarnation ended before it had stored what it inherits, or never opened its segment; the
  // incarnation before it counts instead. False also if the bytes are unreadable, since then it is unknown.
  // REQUIRES: the writer is dead, and it is not incarnation 1.
  static bool ended_before_inheriting(std::span<const std::byte> segment);

  // All zero if no writer has opened it. Nothing if it is not a segment, or its writer lives and changes it just now.
  static std::optional<StableExtent> extent_in(std::span<const std::byte> segment);

  // Whether the writer may still write. kNone also if the bytes are too few to hold a lock.
  static WriterState writer_state(std::span<const std::byte> segment);
  // WriterLock::word(); null if the bytes are too few to hold a lock.
  static const std::uint32_t* writer_word(std::span<const std::byte> segment);
};

}  // namespace ingot::replication_stable
