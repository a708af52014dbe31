# The instances of the models, and the rule that each mutant leaves out; sourced by run.sh.

no_faults="MaxCrash=0 MaxRestart=0"
live="SPEC=FairSpec PROPERTY=Live INVARIANTS=Agreement,Durable Cmds={c1} MaxLog=7 FalseUntil=1 Free=FALSE"
spare="$live N=4 Others=1"         # a fourth replica, and a fifth voter that only votes
stopped="$live N=4 Others=3 MaxCrash=0 MaxRestart=0 MaxPause=2"
everybody="$live MaxCrash=3 MaxRestart=2"

small_instances() {
  holds "one entry of the log, a voter dies and returns" ConfigurationLog
  holds "changes, a crash and a restart" OnePaxos MaxLog=3
  holds "proposals in doubt" OnePaxos InDoubt=TRUE MaxLog=2 $no_faults
  holds "snapshots and trimming" OnePaxos Snapshots=TRUE MaxLog=2
  holds "reads" OnePaxos Reads=TRUE MaxLog=2 $no_faults
  holds "progress: leader or acceptor dies" OnePaxos $live MaxCrash=1 MaxRestart=0
  holds "progress: leader dead, acceptor stopped" OnePaxos $spare MaxCrash=1 MaxPause=1 MaxRestart=0
}

large_instances() {
  holds "large: one entry, three ballots" ConfigurationLog MaxBallot=3 MaxCrash=2
  holds "large: three changes" OnePaxos MaxLog=4
  holds "large: two crashes, two restarts" OnePaxos MaxLog=3 MaxCrash=2 MaxRestart=2
  holds "large: four replicas" OnePaxos N=4 MaxLog=3 MaxRestart=0
  holds "large: two slots" OnePaxos NSlots=2 MaxLog=2
  holds "large: two slots, snapshots" OnePaxos NSlots=2 MaxLog=2 Snapshots=TRUE $no_faults
  holds "large: snapshots, two changes" OnePaxos Snapshots=TRUE MaxLog=3
  holds "large: proposals in doubt, a crash and a restart" OnePaxos InDoubt=TRUE MaxLog=3
  holds "large: reads" OnePaxos Reads=TRUE MaxLog=3
  holds "large: progress, leader and acceptor die, two restarts" OnePaxos $live MaxCrash=2 MaxRestart=2
  holds "large: progress, leader and acceptor die, a majority left" OnePaxos $spare MaxCrash=2 MaxRestart=0
  holds "large: progress, two stopped, fenced" OnePaxos $stopped
  holds "large: progress, everybody dies, two restarts" OnePaxos $everybody
}

mutant_instances() {
  mutant OneChosen inherit ConfigurationLog
  mutant CanVote vote-on ConfigurationLog MaxCrash=2
  local safe="INVARIANTS=Agreement"
  mutant Agreement names OnePaxos $safe
  mutant Agreement ballot-is-index OnePaxos $safe $no_faults MaxLog=5
  mutant Agreement segments-kept OnePaxos $safe MaxCrash=2
  mutant Agreement prepare-activates OnePaxos $safe $no_faults MaxLog=4
  mutant Agreement freeze OnePaxos $safe $no_faults
  mutant Agreement stays-frozen OnePaxos $safe $no_faults InDoubt=TRUE
  mutant Agreement at-ballot-plus-one OnePaxos $safe $no_faults
  mutant Agreement knows-first OnePaxos $safe $no_faults
  mutant Agreement salvage-the-dead OnePaxos $safe $no_faults
  mutant Agreement walk-steps-down OnePaxos $safe $no_faults
  mutant Agreement walk-to-completed OnePaxos $safe $no_faults MaxLog=4
  mutant Agreement walk-knows-from OnePaxos $safe $no_faults MaxLog=4
  mutant Agreement repropose OnePaxos $safe $no_faults
  mutant Agreement gap-is-undecided OnePaxos $safe $no_faults Snapshots=TRUE
  mutant Agreement decided-too OnePaxos $safe $no_faults Snapshots=TRUE MaxLog=4
  mutant Agreement trim-is-told OnePaxos $safe $no_faults Snapshots=TRUE MaxLog=2
  mutant Agreement knows-base OnePaxos $safe $no_faults N=4
  mutant Agreement author-knows-base OnePaxos $safe $no_faults
  mutant Learned chosen-is-own OnePaxos $no_faults MaxLog=2
  mutant Durable trim-below-snapshot OnePaxos $no_faults Snapshots=TRUE MaxLog=2
  mutant Durable history-kept OnePaxos $no_faults
  mutant ReadSafe mark-is-proposed OnePaxos $no_faults Reads=TRUE
  mutant ReadSafe frozen-reads-wait OnePaxos $no_faults Reads=TRUE
  mutant ReadSafe probe-checks-ballot OnePaxos $no_faults Reads=TRUE
  mutant Live votes OnePaxos $live MaxCrash=2 MaxRestart=2
  mutant Live salvage OnePaxos $spare MaxCrash=1 MaxPause=1 MaxRestart=0
  mutant Live walk-back OnePaxos $spare MaxCrash=1 MaxPause=1 MaxRestart=0
  mutant Live fence OnePaxos $stopped
  mutant Live history OnePaxos $everybody
}
