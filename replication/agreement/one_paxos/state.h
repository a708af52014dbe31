// What the parts of 1Paxos share. Each part is one idea: the acceptor, the leader, taking over, knowledge without a
// promise, changing roles; this is what they all look at.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "replication/agreement/agreement.h"
#include "replication/agreement/learner.h"
#include "replication/agreement/learner_catch_up.h"
#include "replication/agreement/mailbox.h"
#include "replication/agreement/one_paxos/acceptor.h"
#include "replication/agreement/one_paxos/config_log.h"
#include "replication/agreement/one_paxos/configuration.h"
#include "replication/agreement/one_paxos/leader.h"
#include "replication/agreement/peers.h"

namespace ingot {

struct OnePaxosState {
  using Command = std::shared_ptr<const std::string>;
  using Slots = std::map<Slot, Command>;

  explicit OnePaxosState(const GroupConfig& config);

  ReplicaIncarnation self() const { return {group.self, group.incarnation}; }
  const ConfigEntry& now() const { return log.last(); }
  // The entry that began this epoch.
  const ConfigEntry& epoch_entry() const { return log.at(log.epoch().value()); }
  bool leads(ReplicaIncarnation name) const { return now().leader == name; }

  // A slot is decided, however that became known.
  void learn(Slot slot, const Command& command, Effects& effects);
  // What the epoch's in-flight entries says to be decided, as far as this replica can follow.
  void learn_in_flight(Effects& effects);

  // What acceptors had stored, in whichever epoch, was chosen: learns what this replica lacks and is known to be trimmed.
  // No more: what is known above all that a new leader finds tells it of somebody newer.
  void learn_history(const StableView& segment, Effects& effects);

  // Above every slot that anybody can have proposed before this epoch.
  Slot in_flight_end() const;

  // What a new leader proposes from the first slot undecided here on, without holes: what is known to be decided, else
  // what was `found`, else what the epoch's in-flight entries have, else a no-op.
  std::vector<Leader::Recovered> recover(const Slots& found) const;

  // A leader's window, in slots and in bytes, says more than it meant to: when the highest of these slots was proposed,
  // all that did not fit into the window with it were decided. Learns those. Without that, what was found could be more
  // than a window or the in-flight entries can hold.
  // REQUIRES: none of these slots is known from a leader that is newer than this replica's entry of the log. That one's
  // window says that they are decided, but not with what.
  void learn_outside_window(const Slots& found, Effects& effects);

  // From where on a leader's segment and the in-flight entries repeat what is decided: what a majority of the voters may lack (they know
  // what is below `known`), as far as the log, the room for the in-flight entries and its patience allow: who lacks more asks its peers,
  // or reads history. `undecided_bytes`: of what is repeated besides. At most decided().
  Slot repeat_from(Slot known, std::size_t undecided_bytes) const;

  GroupConfig group;
  Mailbox mailbox;
  Peers peers;
  Learner learner;
  CatchUp catch_up;
  ConfigLog log;
  OnePaxosLeader leader;
  OnePaxosAcceptor acceptor;
};

}  // namespace ingot
