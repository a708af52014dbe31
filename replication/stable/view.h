// What a stable segment says, for those who read it: the group, when its writer is dead, and tests.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/types.h"
#include "replication/stable/writer_lock.h"

namespace ingot {

// A copy: it holds on to nothing of the segment.
struct StableView {
  using Command = std::shared_ptr<const std::string>;
  struct Entry {
    Ballot ballot;
    Command command;  // never null
  };

  EndpointId replica;
  Incarnation incarnation;

  // As acceptor or voter, in its last epoch. Entries below `trimmed` are left out; of several votes for one slot the last
  // counts. All that were there, left out or not, lie below accepted_end.
  Epoch epoch;
  Ballot promised;
  Slot trimmed;
  std::map<Slot, Entry> accepted;
  Slot accepted_end;
  std::map<Slot, bool> committed;  // 2PC: the outcome, if it was stored; false: aborted
  // Votes of the epochs before, from `trimmed` on. 1Paxos: what an acceptor stored was chosen, so these are decisions.
  std::map<Slot, Command> history;

  // As leader: the last leadership that was taken over, and what was proposed under it and under later ballots (of
  // leaderships that were not taken over to the end).
  Epoch leader_epoch;
  Ballot leader_ballot;
  Slot leader_trimmed;  // proposals of that ballot below it are left out
  std::map<Ballot, std::map<Slot, Command>> proposed;
  Slot proposed_end;  // all of that ballot that were there, left out or not, lie below it

  // Whether this incarnation had inherited all that its predecessors stored before it died; otherwise theirs is what
  // counts.
  bool may_be_inherited() const { return incarnation == Incarnation(1) || !configuration.empty(); }

  // What it held of the configuration log, its votes included (replication/agreement/one_paxos/config_log.h); empty: nothing was stored.
  std::string configuration;

  // Reads the bytes of a stable segment, which may be anybody's and anything: it checks every number before it uses it,
  // and changes nothing. The result is the writer's last word if writer_state() said kGone before; of a living
  // writer it is some recent state, or DATA_LOSS if the writer overtook the reader: then read again. Commands of slots below
  // `from` are checked and left out: a reader that knows them saves their copies.
  //
  // REQUIRES: the memory is aligned to 64 bytes, as mapped segments are.
  // Errors: NOT_FOUND (no writer has opened it yet: nothing was stored), DATA_LOSS (not what a writer leaves).
  static absl::StatusOr<StableView> read(std::span<const std::byte> segment, Slot from = Slot(0));

  // The same without its records: all that a life of 1Paxos inherits of the one before. Records may be damaged.
  static absl::StatusOr<StableView> read_without_records(std::span<const std::byte> segment);

  // Whose incarnation the segment is of; nothing if no writer has opened it, or it is no segment.
  static std::optional<Incarnation> incarnation_in(std::span<const std::byte> segment);

  // True: that later incarnation ended before it had stored what it was to inherit, or never opened its segment; the incarnation before
  // it is what counts. False also where the bytes are unreadable: then nobody knows. REQUIRES: its writer is dead, and it
  // was not the first.
  static bool ended_before_inheriting(std::span<const std::byte> segment);

  // Above every slot that was ever voted for there; 0 where nothing was, or it is no segment.
  static Slot accepted_end_in(std::span<const std::byte> segment);

  // Whether the writer may still write. kNone also where the bytes are too few to hold a lock.
  static WriterState writer_state(std::span<const std::byte> segment);
  // WriterLock::word(); null where the bytes are too few to hold a lock.
  static const std::uint32_t* writer_word(std::span<const std::byte> segment);
};

}  // namespace ingot
