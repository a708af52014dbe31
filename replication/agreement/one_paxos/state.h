// The state that the parts of 1Paxos share: acceptor, leader, takeover, acceptor-state recovery, reconfiguration.
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
#include "replication/agreement/stored.h"

namespace ingot::inline replication_agreement_one_paxos {

struct OnePaxosState {
  using Command = std::shared_ptr<const std::string>;
  using Slots = std::map<Slot, Command>;

  explicit OnePaxosState(const GroupConfig& config);

  ReplicaIncarnation self() const { return {group.self, group.incarnation}; }
  const ConfigEntry& now() const { return log.last(); }
  // The entry that began this epoch.
  const ConfigEntry& epoch_entry() const { return log.at(log.epoch().value()); }
  bool leads(ReplicaIncarnation name) const { return now().leader == name; }
  // This replica has led under the newest entry of the log known here: its window holds all that it proposed since.
  bool has_led() const {
    return leader.has_led() && leader.epoch() == log.epoch() && leader.ballot() == Ballot(log.tip());
  }
  // The leader's proposals that are not known to be decided here.
  Slots proposals() const;

  // The slot is decided, from whatever source.
  void learn(Slot slot, const Command& command, Effects& effects);
  // Learns the decided slots among the epoch's in-flight entries, as far as this replica can follow.
  void learn_in_flight(Effects& effects);

  // Acceptors' votes of any epoch were chosen: learns those that this replica lacks and that are known to be trimmed.
  // Only those: a slot known above everything that a new leader finds would look to it like a newer leader's proposal.
  void learn_history(const StableView& segment, Effects& effects);

  // Above every slot that can have been proposed before this epoch.
  Slot in_flight_end() const;

  // What a new leader proposes from its first undecided slot on, without holes. For each slot: the command known to be
  // decided, else the one in `found`, else the one in the epoch's in-flight entries, else a no-op.
  std::vector<Leader::Recovered> recover(const Slots& found) const;

  // A leader's window, in slots and in bytes, implies decisions: when the highest of these slots was proposed, all
  // slots that did not fit into the window with it were decided. Learns those. Otherwise what was found could exceed a
  // window or the in-flight entries.
  // REQUIRES: none of these slots is known from a leader newer than this replica's entry of the log. Such a leader's
  // window implies that they are decided, but not with which command.
  void learn_outside_window(const Slots& found, Effects& effects);

  // The first decided slot that a new leader's segment, or in-flight entries, repeat: the slots that a majority of the
  // voters may lack (they have those below `known`), as far as the command log, the room for in-flight entries and
  // repeat_bytes allow. A voter that lacks more asks its peers, or reads history. `undecided_bytes`: of the undecided
  // slots that are stored with them. At most decided().
  Slot repeat_from(Slot known, std::size_t undecided_bytes) const;

  GroupConfig group;
  Mailbox mailbox;
  Peers peers;
  Learner learner;
  CatchUp catch_up;
  ConfigLog log;
  OnePaxosLeader leader;
  OnePaxosAcceptor acceptor;
  StableRoom room;
};

}  // namespace ingot::replication_agreement_one_paxos
