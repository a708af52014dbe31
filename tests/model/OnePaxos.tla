------------------------------ MODULE OnePaxos ------------------------------
(***************************************************************************)
(* 1Paxos with its configuration log: normal path, LeaderChange,           *)
(* AcceptorChange with in-flight entries, salvage, walk-back, fencing,     *)
(* snapshots, trimming, reads.  docs/model.md says which code implements   *)
(* which action, and what is left out.                                     *)
(*                                                                         *)
(* A process that takes no step is slow or stopped; no other process can   *)
(* tell which.  Death is different: stable and certain.  Messages are a    *)
(* set: they may arrive late, in any order, twice or never.  A store into  *)
(* a replica's segment and the message about it are one step: the code     *)
(* stores first, and a message that is never sent after its store equals   *)
(* one that never arrives.                                                 *)
(*                                                                         *)
(* A majority chooses each entry of the configuration log                  *)
(* (ConfigurationLog.tla); here that is one step.  With InDoubt, any entry *)
(* proposed for the next index may be chosen, even after its author gave   *)
(* up or died.                                                             *)
(*                                                                         *)
(* Each rule whose omission is known to break a property has a name, and   *)
(* holds unless that name is in Without.                                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  N,            \* replicas 1..N; 1 leads and 2 accepts at the start
  Others,       \* voters that do nothing but vote on configurations, and never fail
  Cmds, NoOp, None,
  NSlots,
  MaxLog,       \* entries of the configuration log
  MaxCrash, MaxRestart, MaxPause,
  InDoubt,
  Snapshots,    \* snapshots and trimming happen
  Reads,        \* one linearizable read happens
  Free,         \* base, from and ReadHistory: all that safety allows; else as in the code, for Live
  FalseUntil,   \* while the log is shorter, any replica may be suspected; afterwards only dead and stopped ones
  Without       \* names of the rules that are left out

VARIABLES
  log,          \* entries of the configuration log, as chosen
  pend,         \* entries proposed for the next index
  up, inc, paused,
  seg,          \* acceptor's part of a segment, by name
  lseg,         \* leader's part, by name: ballot at which step 3 was completed, proposals since, and from which slot on
  st,           \* "no", "prep": before step 3, "lead", "frz": its AcceptorChange is in doubt
  idx,          \* the entry that gave this replica its leadership, 0: none
  bal,          \* its ballot: the same, unless that rule is left out
  dec,          \* decided here; private
  snap,         \* the content of the newest published snapshot
  msgs,
  hist,         \* every <<epoch, slot, command>> that an acceptor ever stored
  acked,        \* slots acknowledged to some client
  rd,           \* the read
  crashes, restarts

disk == <<seg, lseg, snap>>
lead == <<st, idx, bal>>
life == <<up, inc, crashes, restarts>>
seen == <<hist, acked, rd>>
vars == <<log, pend, up, inc, paused, seg, lseg, st, idx, bal, dec, snap, msgs, hist, acked, rd, crashes, restarts>>

Keep(rule) == rule \notin Without

R     == 1..N
Slots == 0..(NSlots - 1)
Empty == [s \in Slots |-> None]
Names == R \X (0..MaxRestart)
Seg0  == [ep |-> 0, prom |-> 0, acc |-> Empty, trim |-> 0, old |-> Empty]   \* old: accepted in former epochs
LSeg0 == [bal |-> 0, prop |-> Empty, from |-> 0]

(* A restarted replica has another name: its next incarnation. *)
Me(r)    == IF Keep("names") THEN <<r, inc[r]>> ELSE <<r, 0>>
Alive(n) == up[n[1]] /\ (~Keep("names") \/ inc[n[1]] = n[2])
Awake(r) == up[r] /\ r \notin paused

Max(S)     == CHOOSE x \in S : \A y \in S : y <= x
Min(S)     == CHOOSE x \in S : \A y \in S : x <= y
Above(S)   == IF S = {} THEN 0 ELSE Max(S) + 1
Merge(d, e) == [s \in Slots |-> IF d[s] = None THEN e[s] ELSE d[s]]
From(d, f)  == [s \in Slots |-> IF s < f THEN None ELSE d[s]]
Prefix(d)  == Above({s \in Slots : \A t \in 0..s : d[t] # None})
Applied(r) == Prefix(dec[r])
SnapEnd    == Prefix(snap)
Lowest     == LET S == {Applied(r) : r \in {q \in R : up[q]}} IN
              IF S = {} THEN 0 ELSE Min(S)

Tip       == Len(log)
Epoch(k)  == CHOOSE j \in 1..k : log[j].ac /\ \A i \in (j + 1)..k : ~log[i].ac
Acceptor(k) == log[Epoch(k)].acc
Base(k)   == IF Keep("knows-base") THEN log[Epoch(k)].base ELSE 0

CanVote   == {r \in R : Awake(r) /\ (Keep("votes") \/ inc[r] = 0)}
Quorum    == 2 * (Cardinality(CanVote) + Others) > N + Others

(* Messages go to a name: those to a dead incarnation are lost. *)
Say(M, to, new) == IF Alive(to) THEN M \cup new ELSE M

Init ==
  /\ log  = <<[ac |-> TRUE, ldr |-> <<1, 0>>, acc |-> <<2, 0>>, carry |-> Empty, base |-> 0]>>
  /\ pend = {} /\ paused = {}
  /\ up   = [r \in R |-> TRUE] /\ inc = [r \in R |-> 0]
  /\ seg  = [n \in Names |-> IF n = <<2, 0>> THEN [Seg0 EXCEPT !.ep = 1, !.prom = 1] ELSE Seg0]
  /\ lseg = [n \in Names |-> IF n = <<1, 0>> THEN [LSeg0 EXCEPT !.bal = 1] ELSE LSeg0]
  /\ st   = [r \in R |-> IF r = 1 THEN "lead" ELSE "no"]
  /\ idx  = [r \in R |-> IF r = 1 THEN 1 ELSE 0]
  /\ bal  = [r \in R |-> IF r = 1 THEN 1 ELSE 0]
  /\ dec  = [r \in R |-> Empty]
  /\ snap = Empty
  /\ msgs = {} /\ hist = {} /\ acked = {} /\ rd = [at |-> 0, bal |-> 0, mark |-> 0, need |-> {}]
  /\ crashes = 0 /\ restarts = 0

-----------------------------------------------------------------------------
(* The normal path. *)

Knows(r, d) ==                       \* r's decided slots become d; applied commands may be answered
  /\ dec' = [dec EXCEPT ![r] = d]
  /\ acked' = IF Reads THEN acked \cup 0..(Prefix(d) - 1) ELSE acked

AcceptMsg(r, s, c) == [m |-> "A", from |-> Me(r), to |-> Acceptor(idx[r]), ep |-> Epoch(idx[r]), bal |-> bal[r],
                       s |-> s, c |-> c]

Propose(r, c) ==
  LET p == lseg[Me(r)].prop
      s == Max({Above({t \in Slots : p[t] # None \/ dec[r][t] # None}), Base(idx[r])})
  IN /\ Awake(r) /\ st[r] = "lead" /\ s \in Slots
     /\ \A t \in Slots : p[t] # c /\ dec[r][t] # c
     /\ lseg' = [lseg EXCEPT ![Me(r)].prop[s] = c]
     /\ msgs' = Say(msgs, Acceptor(idx[r]), {AcceptMsg(r, s, c)})
     /\ UNCHANGED <<log, pend, paused, seg, snap, dec, lead, life, seen>>

OnAccept(a, m) ==
  LET g == seg[m.to] IN
  /\ Awake(a) /\ m.m = "A" /\ m.to = Me(a)
  /\ m.ep = g.ep /\ m.bal >= g.prom /\ m.s >= g.trim
  /\ g.acc[m.s] = None
  /\ seg' = [seg EXCEPT ![m.to].acc[m.s] = m.c]
  /\ hist' = hist \cup {<<m.ep, m.s, m.c>>}
  /\ msgs' = msgs \cup {[m |-> "L", from |-> m.to, s |-> m.s, c |-> m.c],
                         [m |-> "C", from |-> m.to, s |-> m.s, ep |-> m.ep, bal |-> m.bal]}
  /\ Knows(a, IF dec[a][m.s] = None THEN [dec[a] EXCEPT ![m.s] = m.c] ELSE dec[a])
  /\ UNCHANGED <<log, pend, paused, lseg, snap, lead, life, rd>>

(* The proposer, too: the answer to an Accept that it repeats, and what comes along a tree, is a whole Learn. *)
OnLearn(r, m) ==
  /\ Awake(r) /\ m.m = "L" /\ dec[r][m.s] = None
  /\ Knows(r, [dec[r] EXCEPT ![m.s] = m.c])
  /\ UNCHANGED <<log, pend, paused, disk, msgs, lead, life, hist, rd>>

(* Without the command: for the leader whose ballot it names, which has it, as long as its window is that ballot's. *)
OnChosen(r, m) ==
  LET mine == lseg[Me(r)] IN
  /\ Awake(r) /\ m.m = "C" /\ dec[r][m.s] = None /\ mine.prop[m.s] # None
  /\ Keep("chosen-is-own") => mine.bal = m.bal
  /\ Knows(r, [dec[r] EXCEPT ![m.s] = mine.prop[m.s]])
  /\ UNCHANGED <<log, pend, paused, disk, msgs, lead, life, hist, rd>>

CatchUp(r, q) ==
  /\ Awake(r) /\ Awake(q) /\ Merge(dec[r], dec[q]) # dec[r]
  /\ Knows(r, Merge(dec[r], dec[q]))
  /\ UNCHANGED <<log, pend, paused, disk, msgs, lead, life, hist, rd>>

-----------------------------------------------------------------------------
(* Published snapshots, which outlive every replica; and trimming, which they permit. *)

TakeSnapshot(r) ==
  /\ Snapshots /\ Awake(r) /\ Applied(r) > SnapEnd
  /\ snap' = [s \in Slots |-> IF s < Applied(r) THEN dec[r][s] ELSE None]
  /\ UNCHANGED <<log, pend, paused, seg, lseg, dec, msgs, lead, life, seen>>

Install(r) ==
  /\ Snapshots /\ Awake(r) /\ Applied(r) < SnapEnd
  /\ Knows(r, Merge(dec[r], snap))
  /\ UNCHANGED <<log, pend, paused, disk, msgs, lead, life, hist, rd>>

Trim(a) ==
  LET n == Me(a)
      t == IF Keep("trim-below-snapshot") THEN SnapEnd ELSE Lowest
  IN /\ Snapshots /\ Awake(a) /\ \E s \in Slots : s < t /\ (seg[n].acc[s] # None \/ seg[n].old[s] # None)
     /\ seg' = [seg EXCEPT ![n].trim = IF Keep("trim-is-told") THEN t ELSE 0,
                           ![n].acc = From(@, t), ![n].old = From(@, t)]
     /\ UNCHANGED <<log, pend, paused, lseg, snap, dec, msgs, lead, life, seen>>

-----------------------------------------------------------------------------
(* The configuration log. *)

Submit(e) ==
  /\ Tip < MaxLog
  /\ IF InDoubt THEN e \notin pend /\ pend' = pend \cup {e} /\ UNCHANGED log
                ELSE Quorum /\ log' = Append(log, e) /\ UNCHANGED pend

Choose(e) ==
  /\ Quorum /\ log' = Append(log, e) /\ pend' = {}
  /\ UNCHANGED <<paused, disk, dec, msgs, lead, life, seen>>

Suspects(n) == Tip < FalseUntil \/ ~Alive(n) \/ n[1] \in paused

ChangeLeader(r) ==                   \* step 1 of "new leader"
  /\ Awake(r) /\ st[r] = "no" /\ log[Tip].ldr # Me(r) /\ Acceptor(Tip)[1] # r
  /\ Suspects(log[Tip].ldr)
  /\ Submit([ac |-> FALSE, ldr |-> Me(r), acc |-> Acceptor(Tip), carry |-> Empty, base |-> 0])
  /\ UNCHANGED <<paused, disk, dec, msgs, lead, life, seen>>

(* Reads the tip: takes over with the entry's index as ballot, or steps down. *)
ReadLog(r) ==
  LET mine == log[Tip].ldr = Me(r)
      b    == IF Keep("ballot-is-index") THEN Tip ELSE bal[r] + 1
  IN /\ Awake(r)
     /\ IF mine THEN idx[r] < Tip ELSE st[r] # "no"
     /\ st'  = [st EXCEPT ![r] = IF mine THEN "prep" ELSE "no"]
     /\ idx' = [idx EXCEPT ![r] = IF mine THEN Tip ELSE 0]
     /\ bal' = [bal EXCEPT ![r] = IF mine THEN b ELSE IF Keep("ballot-is-index") THEN 0 ELSE @]
     /\ LET a == Acceptor(Tip)  e == Epoch(Tip) IN
        /\ msgs' = IF mine THEN Say(msgs, a, {[m |-> "P", from |-> Me(r), to |-> a, ep |-> e, bal |-> b]}) ELSE msgs
     /\ UNCHANGED <<log, pend, paused, disk, dec, life, seen>>

-----------------------------------------------------------------------------
(* New leader, steps 2 to 4. *)

(* Slots accepted in former epochs are no part of a promise any more, but are kept as history: they were chosen. *)
NewEpoch(g, ep, prom) ==
  [Seg0 EXCEPT !.ep = ep, !.prom = prom, !.old = IF Keep("history-kept") THEN Merge(g.old, g.acc) ELSE Empty]

(* Accepts that the acceptor would refuse from now on are dropped, to have fewer states. *)
OnPrepare(a, m) ==
  LET g == seg[m.to]
      new == IF m.ep > g.ep /\ Keep("prepare-activates") THEN NewEpoch(g, m.ep, m.bal) ELSE [g EXCEPT !.prom = m.bal]
      promise == [m |-> "R", from |-> m.to, to |-> m.from, ep |-> m.ep, bal |-> m.bal, acc |-> new.acc, trim |-> new.trim]
      dead == {x \in msgs : x.m = "A" /\ x.to = m.to /\ (x.ep < new.ep \/ (x.ep = new.ep /\ x.bal < new.prom))}
  IN /\ Awake(a) /\ m.m = "P" /\ m.to = Me(a)
     /\ IF Keep("prepare-activates") THEN m.ep > g.ep \/ (m.ep = g.ep /\ m.bal >= g.prom) ELSE m.bal >= g.prom
     /\ promise \notin msgs \/ new # g
     /\ seg' = [seg EXCEPT ![m.to] = new]
     /\ msgs' = Say(msgs \ dead, m.from, {promise})
     /\ UNCHANGED <<log, pend, paused, lseg, snap, dec, lead, life, seen>>

Activate(a) ==                       \* wrong: on reading the log, not on Prepare
  /\ ~Keep("prepare-activates") /\ Awake(a) /\ Acceptor(Tip) = Me(a) /\ seg[Me(a)].ep < Epoch(Tip)
  /\ seg' = [seg EXCEPT ![Me(a)] = NewEpoch(@, Epoch(Tip), 0)]
  /\ UNCHANGED <<log, pend, paused, lseg, snap, dec, msgs, lead, life, seen>>

(* A new leader's first proposals, given the slots that were, or may have been, accepted. *)
Recovered(r, accepted) ==
  LET e   == log[Epoch(idx[r])]
      lo  == Base(idx[r])
      raw == [s \in Slots |-> IF s < lo THEN None ELSE IF accepted[s] # None THEN accepted[s] ELSE e.carry[s]]
      end == Above({s \in Slots : raw[s] # None \/ dec[r][s] # None})
  IN [s \in Slots |-> IF s < lo \/ s >= end \/ raw[s] # None THEN raw[s]
                      ELSE IF dec[r][s] = None \/ ~Keep("gap-is-undecided") THEN NoOp
                      ELSE IF Keep("decided-too") THEN dec[r][s]
                      ELSE None]

KnowsBelow(r, below) ==
  \A s \in Slots : s < Max({Base(idx[r]), below}) => dec[r][s] # None

(* The first slot that is proposed again: all slots below are decided, and known to r. *)
Firsts(r) ==
  LET lo == Base(idx[r]) IN
  IF Free THEN {f \in {lo, Applied(r)} : f >= lo} ELSE {Max({lo, Applied(r)})}

Complete(r, accepted, below) ==      \* steps 3 and 4
  \E from \in Firsts(r) :
  LET p == From(Recovered(r, accepted), from) IN
  /\ KnowsBelow(r, below)
  /\ st' = [st EXCEPT ![r] = "lead"]
  /\ lseg' = [lseg EXCEPT ![Me(r)] = [bal |-> idx[r], from |-> from, prop |-> IF Keep("repropose") THEN p ELSE Empty]]
  /\ msgs' = IF Keep("repropose")
             THEN Say(msgs, Acceptor(idx[r]), {AcceptMsg(r, s, p[s]) : s \in {t \in Slots : p[t] # None}})
             ELSE msgs
  /\ UNCHANGED <<log, pend, paused, seg, snap, dec, idx, bal, life, seen>>

OnPromise(r, m) ==
  /\ Awake(r) /\ m.m = "R" /\ m.to = Me(r) /\ st[r] = "prep" /\ m.bal = bal[r] /\ m.ep = Epoch(idx[r])
  /\ Complete(r, m.acc, m.trim)

-----------------------------------------------------------------------------
(* Recovery without a promise. *)

(* Reads the segment of any incarnation, for any epoch: every slot that an acceptor stored was chosen.  For replicas
   that are awake CatchUp is enough.  The code does this for a new leader that lacks slots below its base. *)
ReadHistory(r, n) ==
  LET known == Merge(dec[r], Merge(seg[n].acc, seg[n].old)) IN
  /\ Keep("history") /\ Awake(r) /\ (~Alive(n) \/ n[1] \in paused) /\ known # dec[r]
  /\ Free \/ st[r] = "prep"
  /\ Knows(r, known)
  /\ UNCHANGED <<log, pend, paused, disk, msgs, lead, life, hist, rd>>

Salvage(r) ==                        \* the acceptor is known dead: its segment is final
  LET a == Acceptor(idx[r])  g == seg[a]
      current == g.ep = Epoch(idx[r])
  IN /\ Keep("salvage") /\ Awake(r) /\ st[r] = "prep"
     /\ Keep("salvage-the-dead") => ~Alive(a)
     /\ Complete(r, IF current THEN g.acc ELSE Empty, IF current THEN g.trim ELSE 0)

Ask(r) ==                            \* the leaders before, back to the epoch's first
  LET ask == [m |-> "W", from |-> Me(r), to |-> Me(r), k |-> idx[r]] IN
  /\ Keep("walk-back") /\ Awake(r) /\ st[r] = "prep" /\ idx[r] > Epoch(idx[r]) /\ ask \notin msgs
  /\ Suspects(Acceptor(idx[r]))
  /\ msgs' = msgs \cup {ask}
  /\ UNCHANGED <<log, pend, paused, disk, dec, lead, life, seen>>

(* A former leader that is alive steps down for good: its entries all lie below k, and it will read k or later. *)
OnAsk(q, m) ==
  LET answer == [m |-> "V", from |-> Me(q), to |-> m.from, k |-> m.k, had |-> lseg[Me(q)]] IN
  /\ Awake(q) /\ m.m = "W" /\ m.from # Me(q) /\ idx[q] < m.k
  /\ \E j \in Epoch(m.k)..(m.k - 1) : log[j].ldr = Me(q)
  /\ \A x \in msgs : ~(x.m = "V" /\ x.from = Me(q) /\ x.to = m.from /\ x.k = m.k)
  /\ st'  = [st EXCEPT ![q] = IF Keep("walk-steps-down") THEN "no" ELSE @]
  /\ idx' = [idx EXCEPT ![q] = IF Keep("walk-steps-down") THEN 0 ELSE @]
  /\ bal' = [bal EXCEPT ![q] = IF Keep("walk-steps-down") /\ Keep("ballot-is-index") THEN 0 ELSE @]
  /\ msgs' = Say(msgs, m.from, {answer})
  /\ UNCHANGED <<log, pend, paused, disk, dec, life, seen>>

(* Stops at the first former leader, from k-1 down, that completed step 3 at its ballot. *)
WalkBack(r) ==
  LET k == idx[r]  e == Epoch(k)
      answers == {x \in msgs : x.m = "V" /\ x.to = Me(r) /\ x.k = k}
      had(j) == LET n == log[j].ldr IN
                IF \E x \in answers : x.from = n THEN {(CHOOSE x \in answers : x.from = n).had}
                ELSE IF n = Me(r) \/ ~Alive(n) THEN {lseg[n]}
                ELSE {}
      from == IF Keep("walk-to-completed") THEN e ELSE k - 1
      stops == {j \in from..(k - 1) : had(j) # {} /\ \A h \in had(j) : h.bal = j}
      stop == IF stops = {} THEN from ELSE Max(stops)
      found == IF stops = {} THEN LSeg0 ELSE CHOOSE h \in had(stop) : TRUE
  IN /\ Awake(r) /\ st[r] = "prep" /\ k > e
     /\ \E m \in msgs : m.m = "W" /\ m.from = Me(r) /\ m.k = k
     /\ \A j \in stop..(k - 1) : had(j) # {}
     /\ Complete(r, found.prop, IF Keep("walk-knows-from") THEN found.from ELSE 0)

-----------------------------------------------------------------------------
(* New acceptor. *)

(* The author knows all slots below the base to be decided. *)
Bases(r) ==
  IF ~Keep("author-knows-base") THEN 0..Max({Applied(q) : q \in R})
  ELSE IF Free THEN 0..Applied(r)
  ELSE {Applied(r)}

ChangeAcceptor(r, new, base) ==
  LET author == st[r] = "prep" /\ idx[r] = Epoch(idx[r])
      known == IF st[r] = "lead" THEN lseg[Me(r)].prop ELSE log[Epoch(idx[r])].carry
      both  == IF Keep("decided-too") THEN Merge(known, dec[r]) ELSE known
  IN /\ Awake(r) /\ st[r] \in {"prep", "lead"}
     /\ up[new] /\ new # r /\ Me(new) # Acceptor(idx[r])
     /\ st[r] = "lead" \/ author \/ ~Keep("knows-first")
     /\ Keep("at-ballot-plus-one") => idx[r] = Tip
     /\ Suspects(Acceptor(idx[r])) /\ (Tip >= FalseUntil => new \notin paused)
     /\ Submit([ac |-> TRUE, ldr |-> Me(r), acc |-> Me(new), base |-> base,
                carry |-> From(both, base)])
     /\ st' = IF Keep("freeze") THEN [st EXCEPT ![r] = "frz"] ELSE st
     /\ UNCHANGED <<paused, disk, dec, msgs, idx, bal, life, seen>>

Thaw(r) ==                           \* wrong: leads again while the outcome is in doubt
  /\ ~Keep("stays-frozen") /\ Awake(r) /\ st[r] = "frz"
  /\ st' = [st EXCEPT ![r] = "lead"]
  /\ UNCHANGED <<log, pend, paused, disk, dec, msgs, idx, bal, life, seen>>

-----------------------------------------------------------------------------
(* One linearizable read at any replica: wrong if a slot acknowledged before it lies at or above its mark. *)

StartRead(r) ==
  LET proposed == {t \in Slots : lseg[Me(r)].prop[t] # None \/ dec[r][t] # None} IN
  /\ Reads /\ rd.at = 0 /\ Awake(r) /\ (st[r] = "lead" \/ (~Keep("frozen-reads-wait") /\ st[r] = "frz"))
  /\ rd' = [at |-> r, bal |-> bal[r], need |-> acked,
            mark |-> IF Keep("mark-is-proposed") THEN Above(proposed) ELSE Applied(r)]
  /\ msgs' = Say(msgs, Acceptor(idx[r]),
                 {[m |-> "Q", from |-> Me(r), to |-> Acceptor(idx[r]), ep |-> Epoch(idx[r]), bal |-> bal[r]]})
  /\ UNCHANGED <<log, pend, paused, disk, dec, lead, life, hist, acked>>

OnProbe(a, m) ==
  LET g == seg[m.to]  yes == [m |-> "K", from |-> m.to, to |-> m.from, bal |-> m.bal] IN
  /\ Awake(a) /\ m.m = "Q" /\ m.to = Me(a) /\ m.ep = g.ep /\ (m.bal = g.prom \/ ~Keep("probe-checks-ballot"))
  /\ yes \notin msgs
  /\ msgs' = Say(msgs, m.from, {yes})
  /\ UNCHANGED <<log, pend, paused, disk, dec, lead, life, seen>>

OnConfirm(r, m) ==
  /\ Awake(r) /\ m.m = "K" /\ m.to = Me(r) /\ rd.at = r /\ rd.bal = m.bal
  /\ rd' = [rd EXCEPT !.at = 99]
  /\ UNCHANGED <<log, pend, paused, disk, dec, msgs, lead, life, hist, acked>>

-----------------------------------------------------------------------------
(* Faults. *)

(* A replica may die or stop in the middle of a broadcast.  Without fairness a message may stay unread all the same. *)
Unsaid(r, M) == {M} \cup (IF FalseUntil < MaxLog THEN {{m \in M : m.from[1] # r}} ELSE {})

(* Messages to the dead replica are lost.  Messages from it may be lost, too. *)
Die(r) ==
  LET rest == {m \in msgs : m.m \in {"L", "C"} \/ m.to[1] # r} IN
  /\ up' = [up EXCEPT ![r] = FALSE] /\ paused' = paused \ {r}
  /\ st' = [st EXCEPT ![r] = "no"] /\ idx' = [idx EXCEPT ![r] = 0] /\ bal' = [bal EXCEPT ![r] = 0]
  /\ dec' = [dec EXCEPT ![r] = Empty]
  /\ msgs' \in Unsaid(r, rest)

Crash(r) ==
  /\ up[r] /\ r \notin paused /\ crashes < MaxCrash /\ crashes' = crashes + 1 /\ Die(r)
  /\ UNCHANGED <<log, pend, disk, inc, restarts, seen>>

Fence(r) ==                          \* by flag; blocked without
  /\ Keep("fence") /\ r \in paused /\ Acceptor(Tip)[1] = r
  /\ \E k \in Epoch(Tip)..Tip : log[k].ldr[1] \in paused
  /\ Die(r)
  /\ UNCHANGED <<log, pend, disk, inc, crashes, restarts, seen>>

Restart(r) ==
  /\ ~up[r] /\ restarts < MaxRestart /\ restarts' = restarts + 1
  /\ up' = [up EXCEPT ![r] = TRUE] /\ inc' = [inc EXCEPT ![r] = @ + 1]
  /\ seg' = IF ~Keep("names")
            THEN [seg EXCEPT ![<<r, 0>>] = IF Acceptor(Tip) = <<r, 0>> THEN [Seg0 EXCEPT !.ep = Epoch(Tip)] ELSE Seg0]
            ELSE IF ~Keep("segments-kept") THEN [seg EXCEPT ![<<r, inc[r]>>] = Seg0]
            ELSE seg
  /\ UNCHANGED <<log, pend, paused, lseg, snap, dec, msgs, lead, crashes, seen>>

Pause(r) ==
  /\ up[r] /\ r \notin paused /\ Cardinality(paused \cup {q \in R : ~up[q]}) < MaxPause + MaxCrash
  /\ Cardinality(paused) < MaxPause /\ paused' = paused \cup {r}
  /\ msgs' \in Unsaid(r, msgs)
  /\ UNCHANGED <<log, pend, disk, dec, lead, life, seen>>

-----------------------------------------------------------------------------
Step ==
  \/ \E r \in R :
       \/ \E c \in Cmds : Propose(r, c)
       \/ ChangeLeader(r) \/ ReadLog(r) \/ Activate(r) \/ Salvage(r) \/ Ask(r) \/ WalkBack(r) \/ Thaw(r)
       \/ TakeSnapshot(r) \/ Install(r) \/ Trim(r) \/ StartRead(r) \/ Fence(r)
       \/ \E q \in R : CatchUp(r, q) \/ \E base \in Bases(r) : ChangeAcceptor(r, q, base)
       \/ \E n \in Names : ReadHistory(r, n)
       \/ \E m \in msgs : OnAccept(r, m) \/ OnLearn(r, m) \/ OnChosen(r, m) \/ OnPrepare(r, m) \/ OnPromise(r, m)
                          \/ OnAsk(r, m) \/ OnProbe(r, m) \/ OnConfirm(r, m)
  \/ \E e \in pend : Choose(e)
Recover == \E r \in R : Restart(r)
Next == Step \/ Recover \/ \E r \in R : Crash(r) \/ Pause(r)

Spec     == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Step) /\ WF_vars(Recover)

-----------------------------------------------------------------------------
(* Safety. *)
Agreement == \A x, y \in hist : x[2] = y[2] => x[3] = y[3]
Learned   == \A r \in R, s \in Slots : dec[r][s] # None => \E x \in hist : x[2] = s /\ x[3] = dec[r][s]
WriteOnce == \A x, y \in hist : x[1] = y[1] /\ x[2] = y[2] => x[3] = y[3]
Distinct  == \A k \in 1..Tip : log[k].ldr[1] # log[k].acc[1]

(* If every replica died now, snapshots, configuration log and segments would still hold every stored command. *)
Durable ==
  \A x \in hist : LET s == x[2]  c == x[3] IN
     \/ snap[s] = c
     \/ log[Epoch(Tip)].carry[s] = c
     \/ \E n \in Names : seg[n].acc[s] = c \/ seg[n].old[s] = c

ReadSafe == rd.at = 99 => \A s \in rd.need : s < rd.mark

(* Liveness: once faults stop (they are bounded, and suspicion is accurate from FalseUntil on), every running replica
   decides all slots. *)
Done == \A r \in R : Awake(r) => \A s \in Slots : dec[r][s] # None
Live == <>[]Done

Symmetry == Permutations(Cmds)
=============================================================================
