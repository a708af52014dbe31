#include "tests/simulation/mutants.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace ingot::simulation {

namespace {

constexpr Mutant kMutants[] = {
    // 1Paxos. Names as in the model (docs/model.md), if it has the rule.
    {"names", "SimulatedGroup::config", "a new incarnation passes for the one before, and has forgotten everything",
     "1paxos", 3, "liveness, agreement", 2, 40, "", ""},
    {"votes", "ConfigLog::ConfigLog", "a new incarnation does not vote on configurations", "1paxos", 3, "liveness", 2,
     48, "restarted", "trace"},
    {"inherit", "ConfigLog::ConfigLog",
     "a new incarnation votes on configurations without what its predecessor promised", "1paxos", 3,
     "agreement, liveness", 9, 195, "change_history", "trace"},
    {"segments-kept", "OnePaxosStateRecovery::salvaged", "a dead replica's segment is read as empty", "1paxos", 4,
     "liveness, agreement", 2, 69, "change_walk_back", "trace"},
    {"ballot-is-index", "OnePaxosTakeover::ballot", "a leader counts its ballots itself", "1paxos", 3, "liveness", 30,
     1085, "change_repropose", "trace"},
    {"prepare-activates", "OnePaxosReconfiguration::read_log",
     "an acceptor begins its epoch afresh when it reads the configuration", "1paxos", 3, "", 0, 8178,
     "change_late_entry", "agreement"},
    {"promise-kept", "OnePaxosAcceptor::on_accept", "an acceptor takes commands of older ballots", "1paxos", 3,
     "liveness", 190, 5943, "one_paxos_abandon", "trace"},
    {"write-once", "OnePaxosAcceptor::on_accept", "an acceptor stores another command in a taken slot", "1paxos", 3, "",
     0, 1585, "one_paxos_write_once", "agreement"},
    {"chosen-is-own", "OnePaxos::on_chosen", "a leader takes its proposal for the chosen one, whatever the ballot",
     "1paxos", 3, "", 0, 0, "one_paxos_chosen", "agreement"},
    {"vote-stored", "OnePaxosAcceptor::store", "an acceptor does not store what it accepts", "1paxos", 4,
     "liveness, agreement", 3, 56, "one_paxos_normal", "trace"},
    {"proposal-stored", "OnePaxosLeader::offer, OnePaxosTakeover::takeover_writes",
     "a leader does not store its proposals", "1paxos", 5, "liveness, agreement", 110, 1570, "one_paxos_normal",
     "trace"},
    {"configuration-stored", "ConfigLog::store", "votes in the configuration log are not stored", "1paxos", 3,
     "agreement, liveness", 9, 189, "change_restarted_acceptor", "trace"},
    {"entry-majority", "ConfigLog::majority", "half of the voters choose an entry of the configuration log", "1paxos",
     4, "", 0, 2294, "config_majority", "trace"},
    {"entry-adopted", "ConfigLog::on_promise", "a proposer overlooks the entry that a voter has accepted", "1paxos", 3,
     "", 0, 2784, "change_in_doubt", "trace"},
    {"entry-promise-kept", "ConfigLog::on_accept", "a voter takes an entry below its promise", "1paxos", 3, "", 0, 2977,
     "config_promise", "trace"},
    {"knows-base", "OnePaxosStateRecovery::finish, OnePaxosTakeover::begin",
     "a new leader does not wait for the slots below the base", "1paxos", 4, "agreement, liveness", 10, 222,
     "change_history", "trace"},
    {"trim-is-told", "OnePaxosStateRecovery::read_acceptor, OnePaxosTakeover::on_promise",
     "a new leader does not wait for the slots that its acceptor has trimmed", "1paxos", 4, "agreement, liveness", 90,
     1863, "change_trimmed", "trace"},
    {"in-flight-first", "OnePaxosState::recover", "a new leader overlooks what the AcceptorChange carried", "1paxos", 4,
     "agreement", 10, 226, "change_in_flight", "trace"},
    {"gap-is-undecided", "OnePaxosState::recover", "a no-op in a slot above a gap, though it is known to be decided",
     "1paxos", 4, "", 0, 2311, "change_in_flight_fills", "agreement"},
    {"repropose", "OnePaxosTakeover::complete", "a new leader does not propose again what it found", "1paxos", 4,
     "agreement", 10, 226, "change_repropose", "agreement"},
    {"knows-first", "OnePaxosReconfiguration::may_change_acceptor",
     "a leader changes the acceptor before it knows what that one stored", "1paxos", 4,
     "agreement, liveness, revisions", 6, 150, "change_acceptor_dead_before_prepare", "trace"},
    {"freeze", "OnePaxosReconfiguration::write_change",
     "a leader goes on proposing while its AcceptorChange is in doubt", "1paxos", 4, "agreement, liveness", 60, 1338,
     "change_freeze", "agreement"},
    {"frozen-reads-wait", "Leader::reads_allowed", "a frozen leader answers reads", "1paxos", 4, "", 0, 2616,
     "change_frozen_reads", "trace"},
    {"stays-frozen", "OnePaxosReconfiguration::act_as_leader",
     "a frozen leader goes on when its acceptor answers again", "1paxos", 4, "", 0, 2510, "change_stays_frozen",
     "agreement"},
    {"decided-too", "OnePaxosReconfiguration::write_change", "an AcceptorChange carries no decided slots", "1paxos", 4,
     "agreement, liveness", 65, 1257, "change_in_flight_fills", "agreement"},
    {"in-flight", "OnePaxosReconfiguration::write_change", "an AcceptorChange carries no undecided slots", "1paxos", 4,
     "agreement, liveness", 10, 266, "change_in_flight", "trace"},
    {"at-ballot-plus-one", "ConfigLog::append", "an AcceptorChange that has lost is proposed again, after the winner",
     "1paxos", 4, "liveness", 280, 2274, "change_lost", "agreement"},
    {"salvage-the-dead", "SimulatedWorld::stop", "a stopped replica is taken for dead", "1paxos", 4, "liveness", 2, 58,
     "", ""},
    {"salvage", "OnePaxosReconfiguration::act_as_leader", "a new leader does not read its dead acceptor's segment",
     "1paxos", 4, "liveness", 70, 1381, "change_both_dead", "trace"},
    {"walk-back", "OnePaxosReconfiguration::replace_silent_acceptor", "a new leader waits for its stopped acceptor",
     "1paxos", 4, "", 0, 2788, "change_walk_back", "trace"},
    {"fence", "OnePaxosReconfiguration::fence_if_stuck",
     "a stopped replica that all wait for is not killed, with --fence", "1paxos", 4, "", 0, 2896, "change_both_stopped",
     "trace"},
    {"walk-to-completed", "OnePaxosStateRecovery::ask", "a walk-back asks the last former leader only", "1paxos", 5,
     "liveness, agreement", 280, 1963, "change_walk_on", "agreement"},
    {"walk-steps-down", "OnePaxosReconfiguration::on_step_down",
     "a former leader answers a walk-back, and goes on leading", "1paxos", 5, "", 0, 2554, "change_steps_down",
     "agreement"},
    {"walk-knows-from", "OnePaxosStateRecovery::read_leader, OnePaxosStateRecovery::on_stepped_down",
     "a walk-back takes what a former leader did not propose again for unused", "1paxos", 5,
     "agreement, silence, liveness", 440, 2199, "change_walk_back", "trace"},
    {"window-is-own", "OnePaxosState::learn, OnePaxosStateRecovery::complete, OnePaxosTakeover::complete",
     "an overtaken leader goes by a newer leader's window", "1paxos", 5, "", 0, 1900, "change_overtaken", "agreement"},
    {"trim-below-snapshot", "Compaction::trim_point", "what no published snapshot holds is trimmed", "1paxos", 3,
     "liveness", 5, 113, "", ""},
    {"history-kept", "SimulatedReplica::store", "an acceptor of a new epoch drops what it had accepted before",
     "1paxos", 4, "liveness", 35, 684, "", ""},
    {"history", "OnePaxos::call_for_history", "no leader reads what acceptors of earlier epochs stored", "1paxos", 4,
     "liveness", 9, 340, "change_history", "trace"},
    {"mark-is-proposed", "Leader::probe_if_needed", "a read waits for decided slots only", "1paxos", 3, "", 0, 2702,
     "one_paxos_reads", "trace"},
    {"probe-checks-ballot", "OnePaxosAcceptor::on_read_probe", "a deposed leader's reads are confirmed", "1paxos", 3,
     "", 0, 2777, "one_paxos_abandon", "trace"},
    {"asks-before-reading", "Leader::read", "a leader answers reads without asking whether it still leads", "1paxos", 3,
     "revisions", 2, 216, "one_paxos_reads", "trace"},
    {"released-is-told", "OnePaxosStateRecovery::finish",
     "a new leader does not wait for the slots of a released segment", "1paxos", 4, "liveness", 420, 2092,
     "change_released", "agreement"},
    {"dropped-is-unknown", "OnePaxosStateRecovery::ask", "a walk-back passes over leaders whose entries were dropped",
     "1paxos", 5, "", 0, 2050, "change_many_leaders", "trace"},
    {"found-is-forgotten", "OnePaxosReconfiguration::act_as_leader",
     "a takeover uses what a walk-back before it had found", "1paxos", 4, "", 0, 1192, "change_walk_back_outlived",
     "trace"},
    {"own-window-again", "OnePaxosTakeover::complete", "a leader that asks again forgets its own proposals", "1paxos",
     4, "", 0, 2496, "change_asked_again", "trace"},
    {"installed-asks-again", "OnePaxos::installed",
     "a leader that installs a snapshot goes on without asking its acceptor", "1paxos", 4, "", 0, 2762,
     "change_installed", "trace"},
    {"gap-in-one-epoch", "ConfigLog::on_decided", "a LeaderChange of another epoch may follow a gap in the log",
     "1paxos", 4, "", 0, 2311, "change_late_leader", "trace"},
    {"takeover-has-room", "OnePaxosTakeover::complete", "a new leader stores what it found without asking for room",
     "1paxos", 4, "", 0, 2772, "change_room", "trace"},
    {"kept-until-published", "SimulatedGroup::needed_from",
     "segments of ended incarnations are released before a snapshot holds their votes", "1paxos", 3, "liveness", 20,
     546, "", ""},
    {"silence-is-named", "OnePaxosReconfiguration::describe", "a replica that waits for a silent leader names no cause",
     "1paxos", 3, "silence", 440, 2175, "change_silent_leader", "trace"},
    // Any agreement.
    {"long-waits-show", "StallWatch::observe", "a wait is shown only if the agreement calls itself blocked", "1paxos",
     3, "silence", 150, 3792, "", ""},
    {"one-slot-each", "OnePaxosState::learn", "a Learn counts for the next slot, too", "1paxos", 3, "silence", 2, 16,
     "one_paxos_normal", "trace"},
    {"snapshot-is-exact", "ReplicaCore::install", "a snapshot counts for one slot more than it holds", "1paxos", 3,
     "order", 1, 16, "", ""},
    {"stored-before-sent", "SimulatedReplica::store", "messages leave before what they rest on is stored", "1paxos", 4,
     "liveness, agreement", 55, 1134, "", ""},
    {"sessions", "SimulatedReplica::receive", "a repeated request passes for a new one", "1paxos", 3, "exactly once", 2,
     224, "", ""},
    // Multi-Paxos.
    {"voter-inherits", "MultiPaxosVoter::inherit", "a new incarnation votes without what its predecessor stored",
     "multipaxos", 3, "agreement", 4, 72, "multi_paxos_inherited", "trace"},
    {"voter-stores-promise", "MultiPaxosVoter::promise", "a promise is not stored", "multipaxos", 3,
     "agreement, revisions", 220, 1553, "multi_paxos_normal", "trace"},
    {"voter-stores-vote", "MultiPaxosVoter::vote", "a vote is not stored", "multipaxos", 3, "agreement", 6, 246,
     "multi_paxos_normal", "trace"},
    {"voter-keeps-promise", "MultiPaxosVoter::on_accept", "a voter takes commands below its promise", "multipaxos", 3,
     "agreement", 45, 1066, "multi_paxos_old_leader", "trace"},
    {"chosen-is-voted", "MultiPaxosVoter::chosen_command",
     "a voter takes what it voted for before for the chosen command", "multipaxos", 3, "", 0, 0,
     "multi_paxos_chosen", "agreement"},
    {"one-vote-each", "MultiPaxosLeader::on_accepted", "a vote counts for another replica, too", "multipaxos", 5,
     "agreement", 360, 1800, "multi_paxos_normal", "trace"},
    {"vote-majority", "MultiPaxosLeader::majority, MultiPaxosPrepare::majority", "half of the voters decide",
     "multipaxos", 4, "agreement", 45, 938, "multi_paxos_reads", "trace"},
    {"read-majority", "MultiPaxosLeader::on_read_confirm", "one confirmation is enough for a read", "multipaxos", 3, "",
     0, 995, "multi_paxos_reads", "trace"},
    {"highest-ballot-wins", "MultiPaxosPrepare::on_promise", "a new leader takes any voter's command for a slot",
     "multipaxos", 5, "", 0, 2527, "multi_paxos_highest", "agreement"},
    {"trimmed-is-decided", "MultiPaxosPrepare::ready", "a new leader does not wait for what voters have trimmed",
     "multipaxos", 3, "", 0, 40, "multi_paxos_trimmed", "trace"},
    {"proposes-all-again", "MultiPaxos::take_over", "a new leader does not propose again what it found", "multipaxos",
     3, "agreement, revisions", 4, 32, "multi_paxos_leader_dies", "trace"},
    {"reads-after-recovery", "MultiPaxos::read", "a leader reads while recovered slots wait", "multipaxos", 3,
     "revisions", 40, 956, "multi_paxos_gap", "trace"},
    {"recovered-has-room", "MultiPaxosLeader::take_over, MultiPaxosLeader::feed",
     "a new leader proposes again what it found without asking for room", "multipaxos", 3, "", 0, 3845,
     "multi_paxos_room", "trace"},
    // 2PC.
    {"no-is-no", "TwoPhaseCoordinator::on_vote", "the coordinator reads a no as a yes", "2pc", 3, "liveness", 10, 2000,
     "two_phase_commit_no_vote", "trace"},
    {"all-vote", "TwoPhaseCoordinator::on_vote", "a majority of votes commits", "2pc", 3, "revisions", 45, 900,
     "two_phase_commit_normal", "trace"},
    {"all-applied", "TwoPhaseCoordinator::settle, TwoPhaseCoordinator::decide_acknowledged",
     "the coordinator answers before all have applied", "2pc", 3, "liveness", 240, 1220, "two_phase_commit_normal",
     "trace"},
    {"reads-wait-for-prepared", "TwoPhaseCommit::read", "a read does not wait for prepared and undecided slots", "2pc",
     3, "revisions", 10, 338, "two_phase_commit_reads", "trace"},
};

}  // namespace

std::span<const Mutant> all_mutants() { return kMutants; }

const Mutant* find_mutant(std::string_view rule) {
  const auto found =
      std::find_if(std::begin(kMutants), std::end(kMutants), [&](const Mutant& mutant) { return mutant.rule == rule; });
  return found == std::end(kMutants) ? nullptr : found;
}

std::string table_of_mutants() {
  std::string text =
      "| rule | kept in | without it | group | found by | one seed in | within seeds | scenario |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Mutant& mutant : kMutants) {
    const std::string seeds = mutant.one_in > 0
                                  ? absl::StrCat(mutant.checkers, " | ", mutant.one_in, " | ", mutant.seeds())
                                  : absl::StrCat("| too rare in ", mutant.tried, " |");
    const std::string scenario =
        *mutant.scenario != 0 ? absl::StrCat(mutant.scenario, ": ", mutant.shows) : std::string();
    absl::StrAppend(&text, "| ", mutant.rule, " | ", mutant.places, " | ", mutant.without, " | ", mutant.agreement,
                    ", ", mutant.replicas, " | ", seeds, " | ", scenario, " |\n");
  }
  return text;
}

}  // namespace ingot::simulation
