"""Dead processes are restarted; when the supervisor itself dies, the others go on until the next one attaches, or until
the orphan grace is over, and then nothing remains."""

import contextlib
import os
import random
import re
import resource
import signal
import subprocess
import time
import unittest

from ingot_daemon import (INGOTD, WATCHDOG_S, Daemon, Load, alive, command_line, ctl, outage_of, process_name, run_ctl,
                          wait_until)
from tests.seeds import drawn_seed

GRACE = "--orphan-grace=200s"  # longer than any wait of these tests


def unique_name(what):
    return f"{what}-{os.getpid()}-{time.monotonic_ns()}"


def remains_of(name):
    """The processes that hold shared memory or sockets of an instance."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if any(f"memfd:{name}-" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")):
                found.append(pid)
        except OSError:
            pass
    with open("/proc/net/unix") as file:
        found += re.findall(f"@ingot/{name}\\S*", file.read())
    return found


def kill_supervisor(daemon):
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(WATCHDOG_S)


def replica(daemon, number):
    return daemon.status()["replicas"][number]


def wait_for_incarnation(daemon, number, incarnation):
    """Whether the replica is up in that incarnation, or a later one, and has caught up."""
    def there():
        shown = replica(daemon, number)
        return shown["state"] == "up" and shown["incarnation"] >= incarnation and shown["lag"] == 0
    wait_until(there, f"replica {number} is up in incarnation {incarnation}")


def lines(daemon, words):
    return [line for line in daemon.log if words in line]


def wait_for_line(daemon, words):
    """The log is read with a delay, so earlier lines may still follow."""
    wait_until(lambda: lines(daemon, words), f"it says: {words}")


def gone(pid):
    """Whether all its threads have released what they held: the first may be dead before the others."""
    try:
        return not any(alive(f"{pid}/task/{thread}") for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return True


class Restarts(unittest.TestCase):
    def test_dead_processes_are_restarted(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "before", "death")
            victim = replica(daemon, 2)
            os.kill(victim["pid"], signal.SIGKILL)
            wait_for_incarnation(daemon, 2, 2)
            said = f"replica 2 (pid {victim['pid']}) was killed by signal 9; starting it again as incarnation 2"
            wait_for_line(daemon, said)
            self.assertEqual(len(lines(daemon, said)), 1, daemon.log)
            self.assertEqual([process_name(r["pid"]) for r in daemon.status()["replicas"]],
                             ["ingotd-r0", "ingotd-r1", "ingotd-r2"])
            self.assertEqual(process_name(daemon.children()["@front-end"][0]), "ingotd-front")
            os.kill(daemon.children()["@front-end"][0], signal.SIGKILL)
            wait_until(lambda: lines(daemon, "the front end (pid") and run_ctl(daemon.endpoint, "status").returncode == 0,
                       "the front end serves again")
            self.assertIn("death", ctl(daemon.endpoint, "get", "before"))
            ctl(daemon.endpoint, "put", "after", "death")

    def test_a_process_that_cannot_start_is_retried_and_reported_once(self):
        with Daemon() as daemon:
            front_end, standby = daemon.children()["@front-end"][0], daemon.children()["@standby"][0]
            few = len(os.listdir(f"/proc/{daemon.process.pid}/fd")) + 3  # for itself, and too few for its child
            usual = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
            for pid in (daemon.process.pid, standby):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, usual[1]))
            os.kill(front_end, signal.SIGKILL)
            wait_until(lambda: lines(daemon, "cannot start"), "the front end cannot start")
            time.sleep(1)  # some more attempts
            resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, usual)
            wait_until(lambda: lines(daemon, "is up as incarnation"), "the front end serves again")
            self.assertEqual(len(lines(daemon, "cannot start")), 1, daemon.log)
            self.assertIn("Too many open files", lines(daemon, "cannot start")[0])
            ctl(daemon.endpoint, "put", "after", "all")


class Orphans(unittest.TestCase):
    def test_a_new_supervisor_attaches_under_load_and_goes_on_as_the_old_one(self):
        name = unique_name("attached")
        flags = (f"--name={name}", GRACE)
        with Daemon(*flags) as first:
            load = Load(first, "--duration=5s", "--keys=200")
            load.wait_until_under_way()
            kill_supervisor(first)
            time.sleep(0.5)
            with Daemon(*flags) as second:
                self.assertEqual(second.endpoint, first.endpoint)
                self.assertEqual(len(lines(second, f"attached to {name}: 3 replicas, front end; was without")), 1, second.log)
                victim = [r for r in second.status()["replicas"] if r["role"] == "replica"][0]
                os.kill(victim["pid"], signal.SIGKILL)
                wait_for_incarnation(second, victim["id"], 2)
                print(f"attach under load: {outage_of(load.require_held())}")
                self.assertEqual(second.stop(signal.SIGTERM), 0)
        self.assertEqual(remains_of(name), [])

    def test_flags_that_differ_and_third_supervisors_change_nothing(self):
        name = unique_name("agreed")
        flags = (f"--name={name}", GRACE)
        with Daemon(*flags) as first:
            before = [r["pid"] for r in first.status()["replicas"]]
            kill_supervisor(first)
            self.assertIn("--replicas=3, not --replicas=5", self.refused(2, *flags, "--replicas=5"))
            self.assertIn("--agreement=1paxos, not --agreement=2pc", self.refused(2, *flags, "--agreement=2pc"))
            with Daemon(*flags) as second:
                self.assertIn("is running", self.refused(2, *flags))
                self.assertEqual([r["pid"] for r in second.status()["replicas"]], before)

    def refused(self, code, *flags):
        """Runs an ingotd that must end with that code; returns its one line on standard error."""
        done = subprocess.run([INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", *flags],
                              stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def who_stays(self, daemon):
        """The pids of the orphans: all processes but the standby."""
        return [pid for role, group in daemon.children().items() if role != "@standby" for pid in group]

    def test_if_all_are_stopped_it_says_so_and_may_be_tried_again(self):
        flags = (f"--name={unique_name('all-asleep')}", GRACE)
        with Daemon(*flags) as first:
            ctl(first.endpoint, "put", "before", "sleep")
            pids = self.who_stays(first)
            kill_supervisor(first)
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            self.assertIn("none of its processes answers", self.refused(1, *flags))
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            with Daemon(*flags) as second:
                self.assertIn("sleep", ctl(second.endpoint, "get", "before", "--timeout=100s"))

    def test_after_the_grace_nothing_remains_not_even_of_stopped_ones(self):
        left = []
        with contextlib.ExitStack() as daemons:
            for flags in ((), ("--isolation=thread",)):
                name = unique_name("left")
                daemon = daemons.enter_context(Daemon(f"--name={name}", "--orphan-grace=20s", *flags))
                ctl(daemon.endpoint, "put", "a", "1")
                pids = self.who_stays(daemon)
                kill_supervisor(daemon)
                self.assertIn("1", ctl(daemon.endpoint, "get", "a"))
                os.kill(pids[0], signal.SIGSTOP)
                left.append((name, pids))
            for name, pids in left:
                wait_until(lambda: not any(alive(pid) for pid in pids), "they leave")
                self.assertEqual(remains_of(name), [])

    def test_supervisor_and_front_end_at_once(self):
        self.killed_with_the_supervisor("front end", lambda daemon: daemon.children()["@front-end"],
                                        "3 replicas, no front end")

    def test_supervisor_and_a_replica_at_once(self):
        self.killed_with_the_supervisor("a replica", lambda daemon: [replica(daemon, 0)["pid"]], "2 replicas, front end")

    def test_supervisor_and_all_replicas_at_once(self):
        self.killed_with_the_supervisor("all replicas", lambda daemon: daemon.children()["@replica"],
                                        "0 replicas, front end")

    def killed_with_the_supervisor(self, what, victims, attached):
        name = unique_name("partly")
        flags = (f"--name={name}", GRACE)
        with self.subTest(what), Daemon(*flags) as first:
            ctl(first.endpoint, "put", "before", "death")
            pids = victims(first)
            first.process.send_signal(signal.SIGSTOP)  # so that it restarts no process
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            kill_supervisor(first)
            wait_until(lambda: all(gone(pid) for pid in pids), "they are gone")
            with Daemon(*flags) as second:
                self.assertEqual(len(lines(second, attached)), 1, second.log)
                for number in range(3):
                    wait_for_incarnation(second, number, 1)
                self.assertIn("death", ctl(second.endpoint, "get", "before"))
                ctl(second.endpoint, "put", "after", "death")

    def test_no_endpoint_has_two_processes_when_the_supervisor_dies_while_it_starts_a_replica(self):
        prng = random.Random(drawn_seed())
        name = unique_name("once")
        flags = (f"--name={name}", GRACE)
        daemons = contextlib.ExitStack()
        with daemons:
            daemon = daemons.enter_context(Daemon(*flags))
            for _ in range(6):
                os.kill(prng.choice([pid for pid in (r["pid"] for r in daemon.status()["replicas"]) if pid]), signal.SIGKILL)
                time.sleep(prng.uniform(0, 0.03))  # a start takes about that long
                kill_supervisor(daemon)
                daemon = daemons.enter_context(Daemon(*flags))
                for number in range(3):
                    wait_for_incarnation(daemon, number, 1)

                def nobody_else():  # asks again, since the last victim may still have been shown as up
                    shown = sorted([str(r["pid"]) for r in daemon.status()["replicas"]])
                    return shown == sorted(pid for pid in remains_of(name) if pid.isdigit() and
                                           command_line(pid)[1:2] == ["@replica"])

                wait_until(nobody_else, "nobody else is there")

    def test_a_replica_that_is_stopped_meanwhile_is_adopted_when_it_wakes(self):
        flags = (f"--name={unique_name('asleep')}", GRACE)
        with Daemon(*flags) as first:
            ctl(first.endpoint, "put", "before", "sleep")
            kill_supervisor(first)
            sleeper = replica(first, 2)
            os.kill(sleeper["pid"], signal.SIGSTOP)
            with Daemon(*flags) as second:
                self.assertEqual(len(lines(second, f"does not answer yet: replica 2 (pid {sleeper['pid']})")), 1, second.log)
                wait_until(lambda: replica(second, 2)["state"] == "stopped", "it is shown as stopped")
                ctl(second.endpoint, "put", "while", "asleep")
                os.kill(sleeper["pid"], signal.SIGCONT)
                wait_for_incarnation(second, 2, 1)
                self.assertEqual(replica(second, 2)["pid"], sleeper["pid"])
                os.kill(sleeper["pid"], signal.SIGKILL)
                wait_for_incarnation(second, 2, 2)


if __name__ == "__main__":
    unittest.main()
