-------------------------- MODULE ConfigurationLog --------------------------
(***************************************************************************)
(* One entry of the configuration log: Paxos among a majority of N voters, *)
(* each of which may propose its own entry, die and restart.  One slot     *)
(* of Multi-Paxos is the same.                                             *)
(*                                                                         *)
(* A voter stores its promise and its vote in its segment before it sends  *)
(* them.  A restarted voter is a new incarnation, and inherits the content *)
(* of its dead predecessor's segment.  Rules that can be left out:         *)
(*   "inherit": without it a restarted voter votes, but remembers nothing  *)
(*   "vote-on": without it a restarted voter does not vote any more        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS N, MaxBallot, MaxCrash, Without

VARIABLES up, voter, crashes, promised, voted, msgs
vars == <<up, voter, crashes, promised, voted, msgs>>

R == 1..N
Majorities == {Q \in SUBSET R : 2 * Cardinality(Q) > N}
Owner(b) == ((b - 1) % N) + 1
NoVote == [bal |-> 0, entry |-> 0]

Init ==
  /\ up = [r \in R |-> TRUE] /\ voter = [r \in R |-> TRUE] /\ crashes = 0
  /\ promised = [r \in R |-> 0] /\ voted = [r \in R |-> NoVote] /\ msgs = {}

Prepare(b) ==
  /\ up[Owner(b)]
  /\ msgs' = msgs \cup {[m |-> "prepare", bal |-> b]}
  /\ UNCHANGED <<up, voter, crashes, promised, voted>>

Promise(r, b) ==
  /\ up[r] /\ voter[r] /\ [m |-> "prepare", bal |-> b] \in msgs /\ b > promised[r]
  /\ promised' = [promised EXCEPT ![r] = b]
  /\ msgs' = msgs \cup {[m |-> "promise", from |-> r, bal |-> b, vote |-> voted[r]]}
  /\ UNCHANGED <<up, voter, crashes, voted>>

(* The entry of the highest ballot that the majority voted in, or the proposer's own. *)
Accept(b) ==
  /\ up[Owner(b)] /\ \A m \in msgs : ~(m.m = "accept" /\ m.bal = b)
  /\ \E Q \in Majorities :
       LET P == {m \in msgs : m.m = "promise" /\ m.bal = b /\ m.from \in Q}
           V == {m.vote : m \in P} \ {NoVote}
       IN /\ {m.from : m \in P} = Q
          /\ msgs' = msgs \cup
               {[m |-> "accept", bal |-> b,
                 entry |-> IF V = {} THEN Owner(b) ELSE (CHOOSE v \in V : \A w \in V : w.bal <= v.bal).entry]}
  /\ UNCHANGED <<up, voter, crashes, promised, voted>>

Vote(r, m) ==
  /\ up[r] /\ voter[r] /\ m.m = "accept" /\ m.bal >= promised[r]
  /\ promised' = [promised EXCEPT ![r] = m.bal]
  /\ voted' = [voted EXCEPT ![r] = [bal |-> m.bal, entry |-> m.entry]]
  /\ msgs' = msgs \cup {[m |-> "vote", from |-> r, bal |-> m.bal, entry |-> m.entry]}
  /\ UNCHANGED <<up, voter, crashes>>

Crash(r) ==
  /\ up[r] /\ crashes < MaxCrash /\ crashes' = crashes + 1 /\ up' = [up EXCEPT ![r] = FALSE]
  /\ UNCHANGED <<voter, promised, voted, msgs>>

Restart(r) ==
  /\ ~up[r] /\ up' = [up EXCEPT ![r] = TRUE]
  /\ promised' = IF "inherit" \in Without THEN [promised EXCEPT ![r] = 0] ELSE promised
  /\ voted' = IF "inherit" \in Without THEN [voted EXCEPT ![r] = NoVote] ELSE voted
  /\ voter' = IF "vote-on" \in Without THEN [voter EXCEPT ![r] = FALSE] ELSE voter
  /\ UNCHANGED <<crashes, msgs>>

Next == \/ \E b \in 1..MaxBallot : Prepare(b) \/ Accept(b) \/ \E r \in R : Promise(r, b)
        \/ \E r \in R : Crash(r) \/ Restart(r) \/ \E m \in msgs : Vote(r, m)
Spec == Init /\ [][Next]_vars

Chosen == {e \in R : \E b \in 1..MaxBallot : \E Q \in Majorities :
             \A r \in Q : [m |-> "vote", from |-> r, bal |-> b, entry |-> e] \in msgs}
OneChosen == Cardinality(Chosen) <= 1
CanVote == 2 * Cardinality({r \in R : voter[r]}) > N
=============================================================================
