"""A real daemon under chaos: clients record requests and answers while the daemon's processes are killed and stopped at
moments that a seed chooses; then Porcupine and the project's own checker check the histories, and every acknowledged
write is looked up. With --clients=leases, the clients are lease holders that wait for one another's locks, and
watchers; then no lock was held by two, no lease ended early, and each event was seen once, in order."""

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import time

from arena import Arena
from clients import Keys, Leases
from faults import KILLS, OF_REPLICAS, Plan
from groups import all_groups, drawn_groups
from tests.seeds import kept_folder

GROUP_STOPS_PERCENT = 10
GROUP_STOP_S = 3.5  # longer than lease_holders' leases
TWO_PHASE = "--agreement=2pc"  # a dead replica blocks such a group for good
TWO_PHASE_TARGETS = ("leader", "other", "two", "front-end", "supervisor")


def parse(arguments):
    def positive(text):
        if not text.isdigit():
            raise argparse.ArgumentTypeError(f"{text} is no whole number")
        return int(text)

    parser = argparse.ArgumentParser(prog="tests/chaos/run.sh", description=__doc__, allow_abbrev=False)
    parser.add_argument("--clients", choices=["keys", "leases"], default="keys", help="what they do (keys)")
    parser.add_argument("--group-stops", type=positive, default=None, metavar="PERCENT", help="of faults after which "
                        "the whole group is stopped for longer than a lease (0; with --clients=leases: 10)")
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
    parser.add_argument("--rounds", type=positive, default=0, help="so many runs, each on another group: agreement, "
                        "transport, number of replicas and --fence go round as the seed says; 24 are all of them")
    parser.add_argument("--seed", type=positive, default=None, help="default: random")
    parser.add_argument("--require-porcupine", action="store_true", help="fail where it cannot be had")
    parser.add_argument("--keep", metavar="FOLDER", help="for histories and logs; default: they are kept on failure only")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # run.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    flags = parser.parse_args(arguments)
    flags.targets = flags.targets.split(",")
    unknown = [t for t in flags.targets if t not in KILLS]
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(KILLS)}")
    if flags.kills_per_daemon and set(flags.targets) - set(OF_REPLICAS):
        parser.error("with --kills-per-daemon only replicas can be hit; see --targets")
    if not 1 <= flags.replicas <= 48:
        parser.error("--replicas is from 1 to 48")
    if flags.rounds > len(list(all_groups())):
        parser.error(f"--rounds is at most {len(list(all_groups()))}: there are no more groups")
    if flags.group_stops is None:
        flags.group_stops = GROUP_STOPS_PERCENT if flags.clients == "leases" else 0
    if flags.seed is None:
        flags.seed = random.SystemRandom().randrange(2 ** 32)
    return flags


def command(flags):
    """What runs this again, with the same seed."""
    words = ["tests/chaos/run.sh", f"--clients={flags.clients}", f"--seed={flags.seed}",
             f"--group-stops={flags.group_stops}", f"--kills={flags.kills}", f"--stops={flags.stops}",
             f"--replicas={flags.replicas}", f"--targets={','.join(flags.targets)}",
             f"--settle-percent={flags.settle_percent}", f"--faults-per-daemon={flags.faults_per_daemon}",
             f"--kills-per-daemon={flags.kills_per_daemon}"]
    words += [f"--daemon-flag={flag}" for flag in flags.daemon_flag]
    words += [f"--recorder-flag={flag}" for flag in flags.recorder_flag]
    return shlex.join(words)


class Chaos:
    def __init__(self, flags, log):
        self.flags, self.log = flags, log
        self.seed = flags.seed
        self.chance = random.Random(self.seed ^ 0x5eed)
        self.two_phase = TWO_PHASE in flags.daemon_flag
        targets = [t for t in flags.targets if t in TWO_PHASE_TARGETS] if self.two_phase else flags.targets
        self.plan = Plan(self.seed, flags.kills, flags.stops, flags.replicas, targets, flags.settle_percent / 100)
        self.restarts = flags.kills_per_daemon == 0
        self.kills = self.stops = self.daemons = 0
        self.by_target = {}
        self.reports = []
        self.clients = Keys(flags.require_porcupine) if flags.clients == "keys" else Leases()

    def run(self, folder):
        began = time.monotonic()
        self.log(f"chaos: {command(self.flags)}")
        while not self.plan.done():
            self.reports.append(self.one_daemon(folder))
        return self.summary(time.monotonic() - began)

    def one_daemon(self, folder):
        self.daemons += 1
        with Arena(folder, self.daemons, self.flags.replicas, self.flags.daemon_flag, self.clients,
                   self.flags.recorder_flag, self.seed + self.daemons) as arena:
            faults = kills = 0
            self.dead = set()
            while not self.plan.done() and faults < self.flags.faults_per_daemon:
                if self.flags.kills_per_daemon and kills >= self.flags.kills_per_daemon:
                    break
                kills += self.inject(arena, self.plan.next(), kills)
                faults += 1
                if self.dead:
                    arena.require_blocked(self.dead)
                    break
                if self.chance.random() * 100 < self.flags.group_stops:
                    self.stop_group(arena)
            report = arena.finish(self.restarts, blocked=bool(self.dead))
        self.clients.judge(report, arena.history)
        self.log(f"chaos: daemon {self.daemons}: {self.clients.line(report)}; {self.kills} kills and {self.stops} "
                 "stops so far")
        return report

    def stop_group(self, arena):
        """Once everybody is up, so that nobody who starts meanwhile goes on."""
        arena.wait_until(lambda: arena.settled(self.restarts), "everybody is up again and has caught up")
        stops = arena.stop_group(GROUP_STOP_S)
        self.count("stop group", stops)
        self.stops += stops

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
        if self.two_phase and fault.kill in OF_REPLICAS:
            self.dead = arena.ids(killed)
        stops = arena.stop(stopped, fault.stop_s)
        self.count("stop " + fault.stop, stops)
        kills = arena.kill(killed)
        if kills == 0:
            self.dead = set()
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

    def summary(self, elapsed_s):
        return {"seed": self.seed, "replicas": self.flags.replicas, "kills": self.kills, "stops": self.stops,
                "by_target": dict(sorted(self.by_target.items())), "daemons": self.daemons,
                "blocked": sum(r["blocked"] for r in self.reports), "elapsed_s": round(elapsed_s, 1),
                **self.clients.summary(self.reports)}


def show(summary):
    for name, value in summary.items():
        if name == "by_target":
            value = ", ".join(f"{what} {count}" for what, count in value.items())
        elif isinstance(value, list):
            value = "; ".join(value)
        print(f"{name.replace('_', ' '):20} {value}")


def log(text):
    print(text, file=sys.stderr, flush=True)


def run_group(flags, folder):
    """One run on one group; its summary, with `held`. A failure keeps the folder, and prints how to run it again."""
    os.makedirs(folder, exist_ok=True)
    chaos = Chaos(flags, log)
    try:
        summary = chaos.run(folder)
        trouble = "" if summary["held"] else "what clients were told cannot be true"
    except Exception as error:  # whatever ends the run early, its files and its seed are what finds the reason
        trouble = f"after {chaos.kills} kills and {chaos.stops} stops: {error}"
        summary = {"seed": chaos.seed, "replicas": flags.replicas, "kills": chaos.kills, "stops": chaos.stops,
                   "held": False}
    if trouble:
        log(f"tests/chaos/run.sh: {trouble}\nhistories and logs are in {folder}\nagain: {command(flags)}")
    return summary


def run_rounds(flags, folder):
    """A run on each group in turn; the summaries, each with its group."""
    summaries = []
    for number, (replicas, daemon_flags) in enumerate(drawn_groups(flags.seed)[:flags.rounds]):
        own = argparse.Namespace(**{**vars(flags), "replicas": replicas, "seed": flags.seed + number,
                                    "daemon_flag": [*daemon_flags, *flags.daemon_flag]})
        summary = run_group(own, os.path.join(folder, str(number + 1)))
        summaries.append({"group": " ".join([*own.daemon_flag, f"--replicas={replicas}"]), **summary})
    return summaries


COLUMNS = ("kills", "stops", "daemons", "blocked", "acknowledged_writes", "lost", "porcupine", "leases", "keep_alives",
           "tenures", "expired", "events", "held")


def show_rounds(summaries):
    columns = [name for name in COLUMNS if any(name in summary for summary in summaries)]
    width = max(len(summary["group"]) for summary in summaries)
    print("  ".join(["group".ljust(width), *columns]))
    for summary in summaries:
        values = [summary.get(column, "") for column in columns]
        cells = ["; ".join(value) if isinstance(value, list) else str(value) for value in values]
        print("  ".join([summary["group"].ljust(width), *[c.rjust(len(n)) for c, n in zip(cells, columns)]]))


def build(root):
    """Builds the programs, which are then found below the working folder."""
    targets = ["//services/ingotd", "//services/ingotctl", "//tests/chaos:recorder", "//tests/chaos:lease_holders"]
    if subprocess.run(["bazel", "build", *targets], cwd=root, stdout=sys.stderr).returncode != 0:
        sys.exit("tests/chaos/run.sh: the build failed; see above")
    os.chdir(os.path.join(root, "bazel-bin"))


def main(arguments):
    flags = parse(arguments)
    if flags.keep:
        flags.keep = os.path.abspath(flags.keep)
    if flags.build:
        build(flags.build)
    folder = flags.keep or kept_folder("ingot-chaos-")
    summaries = run_rounds(flags, folder) if flags.rounds else [run_group(flags, folder)]
    if flags.output == "json":
        for summary in summaries:
            print(json.dumps(summary))
    elif flags.rounds:
        show_rounds(summaries)
    else:
        show(summaries[0])
    held = all(summary["held"] for summary in summaries)
    if held and not flags.keep:
        shutil.rmtree(folder)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
