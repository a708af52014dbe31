"""Which faults hit a daemon's processes, and when: plans made from a seed."""

import dataclasses
import random

# Targets of kills, with their weights and their numbers of signals (R: the number of replicas).
KILLS = {
    "leader": (4, 1),
    "acceptor": (4, 1),
    "leader+acceptor": (3, 2),
    "other": (2, 1),
    "two": (2, 2),
    "all": (1, "R"),
    "front-end": (2, 1),
    "supervisor": (1, 1),
}
STOPS = {
    "leader": (4, 1),
    "acceptor": (4, 1),
    "leader+acceptor": (2, 2),
    "other": (2, 1),
    "front-end": (1, 1),
    "supervisor": (1, 1),
}
OF_REPLICAS = ("leader", "acceptor", "leader+acceptor", "other", "two", "all")
# The share of faults with a dead leader and a stopped acceptor, or the reverse.
MIXED_SHARE = 0.15

PAUSE_S_MAX = 1.0
STOP_S_MIN, STOP_S_MAX = 0.003, 1.5


@dataclasses.dataclass
class Fault:
    kill: str = ""  # a key of KILLS, or empty
    stop: str = ""  # a key of STOPS, or empty
    pause_s: float = 0  # before the fault
    stop_s: float = 0
    settle: bool = False  # before the fault, wait until all replicas are up and have caught up

    def signals(self, replicas):
        """(kills, stops)."""
        def count(table, target):
            if not target:
                return 0
            signals = table[target][1]
            return replicas if signals == "R" else min(signals, replicas)
        return count(KILLS, self.kill), count(STOPS, self.stop)

    def __str__(self):
        done = [f"kill {self.kill}"] if self.kill else []
        done += [f"stop {self.stop} for {self.stop_s * 1000:.0f} ms"] if self.stop else []
        return " and ".join(done)


class Plan:
    """A sequence of faults that goes on until the requested numbers of kills and stops are reached."""

    def __init__(self, seed, kills, stops, replicas, targets, settle_share):
        self.random = random.Random(seed)
        self.kills, self.stops, self.replicas = kills, stops, replicas
        self.settle_share = settle_share
        self.kill_targets = [t for t in KILLS if t in targets]
        self.stop_targets = [t for t in STOPS if t in targets]

    def done(self):
        return self.kills <= 0 and self.stops <= 0

    def next(self):
        fault = Fault(pause_s=self.random.uniform(0, PAUSE_S_MAX) ** 2, settle=self.random.random() < self.settle_share)
        fault.stop_s = STOP_S_MIN * (STOP_S_MAX / STOP_S_MIN) ** self.random.random()
        if self.random.random() < self.kills / max(1, self.kills + self.stops):
            fault.kill = self.choose(KILLS, self.kill_targets)
        else:
            fault.stop = self.choose(STOPS, self.stop_targets)
        if self.random.random() < MIXED_SHARE and self.kills > 0 and self.stops > 0:
            fault.kill, fault.stop = self.random.sample(["leader", "acceptor"], 2)
        kills, stops = fault.signals(self.replicas)
        self.kills -= kills
        self.stops -= stops
        return fault

    def choose(self, table, targets):
        return self.random.choices(targets, [table[t][0] for t in targets])[0]
