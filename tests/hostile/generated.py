"""Clients whose actions are drawn (tests/fuzz/client_schedule.h) against one real ingotd: several connections with any
frames, windows, messages, slow reads and ends. After each schedule: the front end's memory stayed within its named
bounds and came back, all connections, streams and watches are gone, and an ordinary client beside had each answer.

Each schedule has the seed of the one before plus one. Exit code: 0 ingotd keeps all that; 1 it does not."""

import argparse
import os
import random
import subprocess
import sys
import time
import urllib.request

import ordinary
from gauge import MIB, Gauge, open_descriptors, resident_bytes
from servers import Ingotd
from tests.daemon.ingot_daemon import WATCHDOG_S, wait_until

PLAYER = "tests/fuzz/client_player"
PLAYER_NICENESS = "10"  # real attackers have machines of their own
SCHEDULE_WATCHDOG_S = 900

# services/rpc/server/limits.h, services/watch/limits.h: what is kept for clients, by the front end's own account.
HELD_MIB_MAX = {"requests": 128,            # kReceivedBytesAllMax
                "answers": 256 + 4 * 64}    # kOutputBytesAllMax, and the large calls and turns that began below it
# Of the process, above its start: the sum, which no schedule comes near, since it sends 24 MiB and large answers are 4.
RESIDENT_MIB_MAX = 256
BACK_MIB = 32           # above the start, at which memory is back
DESCRIPTORS_SLACK = 2   # log files and such
GONE = ("ingot_door_connections", "ingot_door_held_bytes", "ingot_door_passed_calls", "ingot_watch_streams",
        "ingot_watches")


def page(daemon):
    """The values of the metrics, by their names with labels."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=WATCHDOG_S) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#")}


def held_mib(values, what):
    return sum(value for name, value in values.items()
               if name.startswith("ingot_door_held_bytes{") and f'what="{what}"' in name) / MIB


def sums(values):
    return {kind: sum(value for name, value in values.items() if name.partition("{")[0] == kind) for kind in GONE}


class Play:
    """Schedules on one daemon."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.pid = daemon.pid
        self.serves_a_new_client("before the first schedule")
        wait_until(lambda: sums(page(daemon))["ingot_door_connections"] <= 1, "that client's connection has ended")
        self.at_rest = sums(page(daemon))
        self.start_bytes = resident_bytes(self.pid)
        self.start_descriptors = open_descriptors(self.pid)

    def schedule(self, seed):
        """Plays it. Raises AssertionError for whatever is demanded and not kept."""
        with Gauge(self.pid) as gauge:
            self.player(seed)
        self.require(self.daemon.pid == self.pid, "the front end did not survive")
        peak_mib = (gauge.peak_bytes - self.start_bytes) / MIB
        self.require(peak_mib <= RESIDENT_MIB_MAX, f"memory grew by {peak_mib:.0f} MiB, more than {RESIDENT_MIB_MAX}")
        self.await_rest()
        return peak_mib

    def player(self, seed):
        """Meanwhile the front end's accounts are read again and again."""
        command = ["nice", "-n", PLAYER_NICENESS, PLAYER, f"--endpoint={self.daemon.endpoint}", f"--seed={seed}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as player:
            end = time.monotonic() + SCHEDULE_WATCHDOG_S
            try:
                while player.poll() is None:
                    self.look_at_accounts()
                    self.require(time.monotonic() < end, "the schedule never ended")
                    time.sleep(0.1)
            finally:
                player.kill()
            said = player.stderr.read().strip()
        self.require(player.returncode == 0, said or f"the player ended with {player.returncode}")

    def look_at_accounts(self):
        values = page(self.daemon)
        for what, most in HELD_MIB_MAX.items():
            held = held_mib(values, what)
            self.require(held <= most, f"the front end keeps {held:.0f} MiB of {what}, more than {most}")

    def await_rest(self):
        """A wait that never ends is what fails."""
        def back():
            seen[:] = [sums(page(self.daemon)), (resident_bytes(self.pid) - self.start_bytes) // MIB,
                       open_descriptors(self.pid) - self.start_descriptors]
            return seen[0] == self.at_rest and seen[1] <= BACK_MIB and seen[2] <= DESCRIPTORS_SLACK

        seen = []
        try:
            wait_until(back, "")
        except AssertionError:
            raise AssertionError(f"after the schedule not all came back: {seen[0]}, which was {self.at_rest}; "
                                 f"{seen[1]} MiB and {seen[2]} descriptors above the start") from None
        self.serves_a_new_client("after the schedule")
        wait_until(lambda: sums(page(self.daemon)) == self.at_rest, "that client has left")

    def serves_a_new_client(self, when):
        refusal = ordinary.refusal_of_a_new_client(self.daemon.endpoint, WATCHDOG_S)
        self.require(not refusal, f"no new client was served {when}: {refusal}")

    @staticmethod
    def require(kept, sentence):
        if not kept:
            raise AssertionError(sentence)


def play(seconds, seed):
    """As many schedules as begin in the time. Returns how many there were."""
    end = time.monotonic() + seconds
    played = 0
    with Ingotd(None) as daemon:
        stage = Play(daemon)
        while played == 0 or time.monotonic() < end:
            try:
                peak_mib = stage.schedule(seed + played)
            except AssertionError as error:
                raise AssertionError(f"schedule {seed + played}: {error}; again: tests/hostile/generated.sh "
                                     f"--seed={seed + played}") from None
            print(f"schedule {seed + played}: {peak_mib:.1f} MiB at most", flush=True)
            played += 1
    return played


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/hostile/generated.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0, help="that schedules begin in (0: one schedule)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2 ** 32),
                        help="of the first schedule (random)")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # generated.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    flags = parser.parse_args(arguments)
    if not flags.hours >= 0:
        parser.error(f"--hours takes a number from 0 up, not {flags.hours}")
    return flags


def build(root):
    """Builds the programs, which are then found below the working folder."""
    command = ["bazel", "build", "//services/ingotd", f"//{PLAYER.replace('/client', ':client')}"]
    if subprocess.run(command, cwd=root, stdout=sys.stderr).returncode != 0:
        sys.exit("tests/hostile/generated.sh: the build failed; see above")
    os.chdir(os.path.join(root, "bazel-bin"))


def main(arguments):
    flags = parse(arguments)
    if flags.build:
        build(flags.build)
    try:
        print(f"{play(flags.hours * 3600, flags.seed)} schedules played, nothing found")
        return 0
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
