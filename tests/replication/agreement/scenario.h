// Scenario files: what happens to a group, and the trace that it leaves, side by side.
//
//   # A comment, up to the first command: what the file shows.
//   command arguments
//   another command
//   ----
//   the trace of both, up to an empty line
//
// Commands (R, A, B: replica numbers):
//   group N KIND [voters=V] [window=W] [log=L] [prepared_bytes=B] [in_flight=BYTES] [suspect=TICKS]
//       [apply=by-hand] [fencing] [quiet]
//                             a fresh group; quiet: without stores of configurations and messages about them
//   propose R COMMAND...      each word is a proposal of its own
//   read R [TIMES]            linearizable reads
//   deliver A->B [COUNT]      messages of a link, default all; "deliver all": until every link is empty
//   drop A->B [COUNT]         loses messages of a link, default all
//   duplicate A->B            the oldest message of a link stays in it once more
//   inject A->B TYPE [incarnation=I] [epoch=E] [ballot=B] [slot=S] [number=N] [target=I] [yes] [command=C]   a forged message
//   raw A->B HEX              forged bytes; A may be any endpoint
//   drained A->B              A learns that its backlog to B has drained after losses
//   tick R [COUNT]            ticks as long as the replica wants any
//   apply R SLOT              slots below SLOT are applied (with apply=by-hand)
//   compact R SLOT | install R SLOT | crash R | restart R | lose R   (its segments)
//   died R [A...]             A, or everybody who lives, learns from the kernel that R is dead
//   stop R... | cont R...     "deliver all" and "run" pass stopped replicas over
//   run TICKS                 so many times: everybody ticks, then "deliver all"
//   waits R                   a client asks R for what only a leader can do
//   move R leader|acceptor N  as `ingotctl move`
//   segment R [INCARNATION]   what its segment holds
//   status [R] | links | refused R
#pragma once

#include <string>

namespace ingot::testing {

// Runs the commands of a scenario and returns it with the traces that they leave now. A line that is no command leaves
// a trace that says so.
std::string run_scenario(const std::string& text);

}  // namespace ingot::testing
