// Scenario files: commands for a group, each followed by the trace that it leaves.
//
//   # A comment, up to the first command: what the file shows.
//   command arguments
//   another command
//   ----
//   the trace of both, up to an empty line
//
// Commands (R, A, B: replica numbers):
//   group N KIND [voters=V] [window=W] [window_bytes=B] [log=L] [prepared_bytes=B] [in_flight=BYTES] [suspect=TICKS]
//       [apply=by-hand] [fencing] [quiet]
//                             a fresh group; quiet: without stores of configurations and messages about them
//   propose R COMMAND...      each word is a separate proposal
//   read R [TIMES]            linearizable reads
//   deliver A->B [COUNT]      messages of a link, default all; "deliver all": until every link is empty
//   drop A->B [COUNT]         loses messages of a link, default all
//   duplicate A->B            doubles the oldest message of a link
//   inject A->B TYPE [incarnation=I] [epoch=E] [ballot=B] [slot=S] [number=N] [target=I] [yes] [command=C]
//                             a forged message
//   raw A->B HEX              forged bytes; A may be any endpoint
//   drained A->B              tells A that its backlog to B has drained after losses
//   tick R [COUNT]            ticks as long as the replica wants any
//   apply R SLOT              applies the slots below SLOT (with apply=by-hand)
//   room R BYTES              R's segment has room for so many more bytes
//   compact R SLOT | install R SLOT | crash R | restart R | lose R   (its segments)
//   release R SLOT            the segments of R's ended incarnations: a snapshot holds the slots below SLOT
//   died R [A...]             tells A, or all living replicas, that R is dead
//   started R [A...]          tells A, or all other running replicas, that R's present incarnation runs
//   stop R... | cont R...     "deliver all" and "run" skip stopped replicas
//   stopped R [A...] | continued R [A...]
//                             tells A, or all other running replicas, that the kernel says so of R, true or not
//   run TICKS                 this many rounds: a tick for all replicas, then "deliver all"
//   waits R                   a client asks R for a result that only a leader can give
//   move R leader|acceptor N  as `ingotctl move`
//   segment R [INCARNATION]   prints the content of its segment
//   status [R] | links | refused R
//   why [R]                   what the next decision waits for there; without R, at each replica that runs
#pragma once

#include <string>

namespace ingot::testing {

// Runs the commands of a scenario and returns it with their present traces. A line that is not a command leaves an
// error as its trace.
std::string run_scenario(const std::string& text);

}  // namespace ingot::testing
