"""Readers of a view, its publishers and supervisors are killed and stopped at random instants, and every read is
judged: it is of one state that was decided, and no handle goes back in time. Afterwards descriptors, memory and
processes are as before.

Larger counts by flags, as in
    bazel test //tests/daemon:view_kills_test --test_output=all --test_arg=--readers=10000 \\
        --test_arg=--stopped-readers=1000 --test_arg=--publishers=300 --test_arg=--stopped-publishers=100 \\
        --test_arg=--supervisors=20 --test_arg=--pause=2
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from ingot_daemon import (RUNTIME, WATCHDOG_S, Daemon, command_line, ctl, keeps_memory, send_signal, signal_all,
                          wait_until)
from tests.seeds import drawn_seed

CHURN = "tests/daemon/view_churn"
# Stopped publishers go on, or are killed, before the supervisor would kill them.
STOP_S_MAX = 3
# Descriptors of the snapshot of what was written meanwhile; one lost with each publisher would be more.
MORE_MAX = 4
FLAGS = (f"--name=view-kills-{os.getpid()}", "--auto-compaction-mode=revision", "--auto-compaction-retention=2000")
counts = None


def processes(role=None):
    """Pids of this test's instance, of one role or of all that are not clients."""
    found = []
    for entry in os.listdir("/proc"):
        words = command_line(entry) if entry.isdigit() else []
        if len(words) < 2 or keeps_memory(entry) or not (words[1] == role if role else words[1].startswith("@")):
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"XDG_RUNTIME_DIR={RUNTIME}".encode() in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            pass
    return found


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def views_mapped():
    """How many boards and generations are mapped by any process that can be looked at."""
    files = set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"XDG_RUNTIME_DIR={RUNTIME}".encode() not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{entry}/maps") as file:
                files |= {line.split()[4] for line in file if "memfd:ingot-view" in line}
        except OSError:
            pass
    return len(files)


class State:
    """What an instance has of processes and memory; its publisher and supervisor may be others each time."""

    def __init__(self, daemon):
        self.supervisor = descriptors(daemon.process.pid)
        self.roles = sorted(command_line(pid)[1] for pid in processes())
        self.served = {pid: descriptors(pid) for pid in processes("@front-end") + processes("@replica")}
        [self.publisher] = map(descriptors, processes("@view"))
        self.views = views_mapped()

    def no_more_than(self, other):
        return (self.roles == other.roles and self.views <= other.views and
                self.publisher <= other.publisher + MORE_MAX and self.supervisor <= other.supervisor + MORE_MAX and
                all(number <= other.served.get(pid, 0) + MORE_MAX for pid, number in self.served.items()))

    def __repr__(self):
        return (f"{self.roles}, descriptors {self.served}, the publisher's {self.publisher}, the supervisor's "
                f"{self.supervisor}, views {self.views}")


class ViewKills(unittest.TestCase):
    def start(self, stack):
        return stack.enter_context(Daemon(*FLAGS))

    def publisher(self):
        def one():
            found[:] = processes("@view")
            return len(found) == 1 or self.churn.poll() is not None

        found = []
        wait_until(one, "a publisher runs")
        self.assertIsNone(self.churn.poll(), "the readers go on")
        return found[0]

    def stop_publisher(self):
        pid = self.publisher()
        send_signal(pid, signal.SIGSTOP)
        time.sleep(self.random.uniform(0, STOP_S_MAX))
        send_signal(pid, self.random.choice((signal.SIGCONT, signal.SIGKILL)))

    def attach(self, daemon, stack):
        daemon.process.kill()
        daemon.process.wait(WATCHDOG_S)
        return self.start(stack)

    def settled(self, daemon, before):
        def same():
            try:
                seen[:] = [State(daemon)]
            except (OSError, ValueError, IndexError):
                return False  # a process ended while it was looked at
            return seen[0].no_more_than(before)

        seen = []
        try:
            wait_until(same, "processes, descriptors and memory are as before")
        except AssertionError as error:
            raise AssertionError(f"{error}: before {before}; now {seen}") from None

    def test_whoever_is_killed_or_stopped_every_read_is_of_one_state_that_was_decided(self):
        seed = drawn_seed()
        self.random = random.Random(seed)
        with contextlib.ExitStack() as stack:
            daemon = self.start(stack)
            stack.callback(lambda: signal_all(processes(), signal.SIGKILL))
            socket = daemon.socket
            ctl(daemon.endpoint, "get", "--view", "nothing")  # starts the publisher
            before = State(daemon)
            self.churn = stack.enter_context(subprocess.Popen(
                [CHURN, f"unix:{socket}", socket.removesuffix(".sock") + ".view.sock", str(counts.readers),
                 str(counts.stopped_readers), str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            stack.callback(self.churn.kill)
            self.publisher()
            events = (["kill"] * counts.publishers + ["stop"] * counts.stopped_publishers +
                      ["attach"] * counts.supervisors)
            self.random.shuffle(events)
            for event in events:
                time.sleep(self.random.uniform(0, counts.pause))
                if event == "kill":
                    send_signal(self.publisher(), signal.SIGKILL)
                elif event == "stop":
                    self.stop_publisher()
                else:
                    daemon = self.attach(daemon, stack)
            print(f"{len(events)} publishers and supervisors were killed or stopped", flush=True)
            self.churn.stdin.close()
            while self.churn.poll() is None:  # readers that are stopped wait for another generation
                time.sleep(self.random.uniform(0, counts.pause))
                for pid in processes("@view"):
                    send_signal(pid, signal.SIGKILL)
            self.assertEqual(self.churn.returncode, 0)
            said = json.loads(self.churn.stdout.read())
            print(json.dumps(said), flush=True)
            self.assertGreaterEqual(said["kills"], counts.readers)
            self.assertGreaterEqual(said["stops"], counts.stopped_readers)
            self.settled(daemon, before)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("readers", 200), ("stopped-readers", 8), ("publishers", 5), ("stopped-publishers", 2),
                         ("supervisors", 1)):
        parser.add_argument(f"--{name}", type=int, default=number, metavar="N")
    parser.add_argument("--pause", type=float, default=0.7, metavar="SECONDS", help="at most, between two")
    found, rest = parser.parse_known_args(words)
    if found.publishers <= MORE_MAX:
        parser.error(f"--publishers: fewer than {MORE_MAX + 1} would show no descriptor that is lost with each")
    return found, rest


if __name__ == "__main__":
    counts, rest = parse(sys.argv[1:])
    unittest.main(argv=[sys.argv[0], *rest])
