"""A real daemon under chaos: clients record requests and answers while the daemon's processes are killed and stopped at
moments that a seed chooses; then Porcupine and the project's own checker check the histories, and every acknowledged
write is looked up."""

import argparse
import json
import os
import random
import sys
import tempfile
import time

from arena import Arena
from faults import KILLS, OF_REPLICAS, Plan
from checker import build_porcupine, porcupine


def parse(arguments):
    def positive(text):
        if not text.isdigit():
            raise argparse.ArgumentTypeError(f"{text} is no whole number")
        return int(text)

    parser = argparse.ArgumentParser(prog="tests/chaos/run.sh", description=__doc__, allow_abbrev=False)
    parser.add_argument("--kills", type=positive, default=6, help="SIGKILLs, at least (6)")
    parser.add_argument("--stops", type=positive, default=3, help="SIGSTOPs, at least (3)")
    parser.add_argument("--replicas", type=positive, default=5, help="of the daemon (5)")
    parser.add_argument("--targets", default=",".join(KILLS), help="who is hit; default: %(default)s")
    parser.add_argument("--settle-percent", type=positive, default=50, help="of faults that wait until everybody is up "
                        "again and has caught up (50)")
    parser.add_argument("--faults-per-daemon", type=positive, default=50, help="then a new daemon (50)")
    parser.add_argument("--kills-per-daemon", type=positive, default=0, help="of replicas that are not started again: "
                        "then a new daemon; 0 (the default): they are")
    parser.add_argument("--daemon-flag", action="append", default=[], help="one for ingotd, as --daemon-flag=--agreement=multipaxos")
    parser.add_argument("--recorder-flag", action="append", default=[], help="one for the clients, as --recorder-flag=--clients=16")
    parser.add_argument("--seed", type=positive, default=None, help="default: random")
    parser.add_argument("--require-porcupine", action="store_true", help="fail where it cannot be had")
    parser.add_argument("--keep", metavar="FOLDER", help="for histories and logs; default: they are kept on failure only")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    flags = parser.parse_args(arguments)
    flags.targets = flags.targets.split(",")
    unknown = [t for t in flags.targets if t not in KILLS]
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(KILLS)}")
    if flags.kills_per_daemon and set(flags.targets) - set(OF_REPLICAS):
        parser.error("with --kills-per-daemon only replicas can be hit; see --targets")
    if not 1 <= flags.replicas <= 48:
        parser.error("--replicas is from 1 to 48")
    return flags


class Chaos:
    def __init__(self, flags, log):
        self.flags, self.log = flags, log
        self.seed = random.SystemRandom().randrange(2 ** 32) if flags.seed is None else flags.seed
        self.chance = random.Random(self.seed ^ 0x5eed)
        self.plan = Plan(self.seed, flags.kills, flags.stops, flags.replicas, flags.targets,
                         flags.settle_percent / 100)
        self.restarts = flags.kills_per_daemon == 0
        self.kills = self.stops = self.daemons = 0
        self.by_target = {}
        self.reports = []
        self.checker, self.no_checker = build_porcupine()
        if self.checker is None and flags.require_porcupine:
            raise AssertionError(self.no_checker)

    def run(self, folder):
        began = time.monotonic()
        self.log(f"chaos: seed {self.seed}, {self.flags.kills} kills, {self.flags.stops} stops, {self.flags.replicas} replicas")
        while not self.plan.done():
            self.reports.append(self.one_daemon(folder))
        return self.summary(time.monotonic() - began)

    def one_daemon(self, folder):
        self.daemons += 1
        with Arena(folder, self.daemons, self.flags.replicas, self.flags.daemon_flag, self.flags.recorder_flag,
                   self.seed + self.daemons) as arena:
            faults = kills = 0
            while not self.plan.done() and faults < self.flags.faults_per_daemon:
                if self.flags.kills_per_daemon and kills >= self.flags.kills_per_daemon:
                    break
                kills += self.inject(arena, self.plan.next(), kills)
                faults += 1
            report = arena.finish(self.restarts)
        report["porcupine"] = self.checked(arena.history)
        self.log(f"chaos: daemon {self.daemons}: {report['operations']} operations, {report['open']} open, "
                 f"{report['looked_up']} looked up, {report['lost']} lost, linearizable: {report['linearizable']} "
                 f"(Porcupine: {report['porcupine']}), longest gap {report['gap_ms_max']:.0f} ms; "
                 f"{self.kills} kills and {self.stops} stops so far")
        return report

    def inject(self, arena, fault, killed_before):
        """Injects a fault; returns the number of killed processes."""
        if fault.settle:
            arena.wait_until(lambda: arena.settled(self.restarts), "everybody is up again and has caught up")
        time.sleep(fault.pause_s)
        if fault.kill == "supervisor" or not self.restarts:
            arena.wait_until(lambda: arena.settled(self.restarts), "everybody is up again and has caught up")
        stopped = arena.pids(fault.stop, self.chance) if fault.stop else []
        killed = arena.pids(fault.kill, self.chance) if fault.kill else []
        if not self.restarts:  # the survivors must be able to go on without the processes that are not restarted
            killed = killed[:self.flags.kills_per_daemon - killed_before]
        stops = arena.stop(stopped, fault.stop_s)
        self.count("stop " + fault.stop, stops)
        kills = arena.kill(killed)
        self.count("kill " + fault.kill, kills)
        self.plan.kills += fault.signals(self.flags.replicas)[0] - kills
        self.plan.stops += fault.signals(self.flags.replicas)[1] - stops
        self.kills += kills
        self.stops += stops
        if fault.kill == "supervisor" and kills:
            arena.replace_supervisor()
        return kills

    def count(self, what, signals):
        if signals:
            self.by_target[what] = self.by_target.get(what, 0) + signals

    def checked(self, history):
        if self.checker is None:
            return "not judged: " + self.no_checker
        code, reports, error = porcupine(self.checker, history)
        return reports[0]["verdict"] if code in (0, 1) and reports else error

    def summary(self, elapsed_s):
        total = lambda key: sum(r[key] for r in self.reports)
        fine = all(r["lost"] == 0 and r["linearizable"] == "fine" and r["revisions"] == "fine" and
                   (r["porcupine"] == "Ok" or r["porcupine"].startswith("not judged")) for r in self.reports)
        return {"seed": self.seed, "replicas": self.flags.replicas, "kills": self.kills, "stops": self.stops,
                "by_target": dict(sorted(self.by_target.items())), "daemons": self.daemons,
                "elapsed_s": round(elapsed_s, 1), "operations": total("operations"),
                "acknowledged_writes": total("acknowledged_writes"), "looked_up": total("looked_up"),
                "lost": total("lost"), "open": total("open"), "failed": total("failed"),
                "gap_ms_max": round(max(r["gap_ms_max"] for r in self.reports), 1),
                "linearizable": sorted({r["linearizable"] for r in self.reports}),
                "revisions": sorted({r["revisions"] for r in self.reports}),
                "porcupine": sorted({r["porcupine"] for r in self.reports}),
                "lost_examples": [e for r in self.reports for e in r["lost_examples"]][:10], "held": fine}


def show(summary):
    for name, value in summary.items():
        if name == "by_target":
            value = ", ".join(f"{what} {count}" for what, count in value.items())
        elif isinstance(value, list):
            value = "; ".join(value)
        print(f"{name.replace('_', ' '):20} {value}")


def main(arguments):
    flags = parse(arguments)
    folder = flags.keep or tempfile.mkdtemp(prefix="ingot-chaos-")
    os.makedirs(folder, exist_ok=True)
    chaos = Chaos(flags, lambda text: print(text, file=sys.stderr, flush=True))
    try:
        summary = chaos.run(folder)
    except AssertionError as error:
        print(f"tests/chaos/run.sh: seed {chaos.seed}, after {chaos.kills} kills and {chaos.stops} stops: {error}\n"
              f"histories and logs are in {folder}", file=sys.stderr)
        return 1
    if flags.output == "json":
        print(json.dumps(summary))
    else:
        show(summary)
    if not summary["held"]:
        print(f"histories and logs are in {folder}", file=sys.stderr)
    elif not flags.keep:
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
    return 0 if summary["held"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
