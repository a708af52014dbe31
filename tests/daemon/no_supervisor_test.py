"""While no supervisor runs: status, metrics and log say so, and show each process as the kernel knows it."""

import contextlib
import os
import re
import signal
import unittest
import urllib.request

from ingot_daemon import WATCHDOG_S, Daemon, ctl, signal_all, wait_until

GRACE_S = 200  # longer than any wait of these tests
FLAGS = (f"--orphan-grace={GRACE_S}s",)


def metrics(daemon, name):
    """The values of one metric, by its labels."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        text = answer.read().decode()
    return {match[1]: float(match[2]) for match in re.finditer(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.M)}


def leaders(daemon):
    return [r["id"] for r in daemon.status()["replicas"] if r["role"] == "leader"]


@contextlib.contextmanager
def without_supervisor(daemon):
    """Kills the supervisor, and in the end all that it has left: no test waits for the grace."""
    orphans = [pid for pids in daemon.children().values() for pid in pids]
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(WATCHDOG_S)
    try:
        yield
    finally:
        signal_all(orphans, signal.SIGKILL)


def one_new_leader(daemon, old):
    """Waits until a write has moved the lead from a dead or stopped replica."""
    ctl(daemon.endpoint, "put", "after", "it")
    wait_until(lambda: leaders(daemon) not in ([], [old]), "another replica leads")
    return leaders(daemon)


def lines(daemon, words):
    return [line for line in daemon.log if re.search(words, line)]


class NoSupervisor(unittest.TestCase):
    def test_a_replica_that_dies_without_a_supervisor_is_not_up_and_does_not_lead(self):
        with Daemon(*FLAGS) as daemon:
            leader = daemon.status()["replicas"][leaders(daemon)[0]]
            with without_supervisor(daemon):
                os.kill(leader["pid"], signal.SIGKILL)
                wait_until(lambda: daemon.status()["replicas"][leader["id"]]["state"] == "dead", "the status says dead")
                found = one_new_leader(daemon, leader["id"])
                self.assertEqual(len(found), 1, daemon.status())
                self.assertEqual(daemon.status()["replicas"][leader["id"]]["pid"], 0)
                states = metrics(daemon, "ingot_replica_state")
                self.assertEqual(states[f'replica="{leader["id"]}",state="dead"'], 1)
                self.assertEqual(states[f'replica="{leader["id"]}",state="up"'], 0)
                roles = metrics(daemon, "ingot_replica_role")
                self.assertEqual([label for label, role in roles.items() if role == 1], [f'replica="{found[0]}"'])

    def test_the_status_the_metrics_and_every_process_say_that_there_is_no_supervisor(self):
        daemon = self.enterContext(Daemon(*FLAGS, f"--name=none-{os.getpid()}"))
        self.assertNotIn("supervisor", daemon.status())
        self.assertNotIn("supervisor", ctl(daemon.endpoint, "status"))
        self.assertEqual(metrics(daemon, "ingot_supervisor_up"), {None: 1})
        self.enterContext(without_supervisor(daemon))
        shown = daemon.status()["supervisor"]
        self.assertEqual(shown["state"], "dead")
        self.assertLessEqual(shown["down_ms"] + shown["ends_in_ms"], GRACE_S * 1000)
        self.assertRegex(ctl(daemon.endpoint, "status"), r"\nsupervisor: dead for \S+; .* all ends in \S+ unless ")
        wait_until(lambda: daemon.status()["supervisor"]["down_ms"] > 0, "the time counts")
        self.assertLess(daemon.status()["supervisor"]["ends_in_ms"], GRACE_S * 1000)
        self.assertIn("supervisor dead, all ends in ", ctl(daemon.endpoint, "watch-status", "--count=1"))
        self.assertEqual(metrics(daemon, "ingot_supervisor_up"), {None: 0})
        processes = ["front-end", "replica-0", "replica-1", "replica-2"]
        for process in processes:
            wait_until(lambda: lines(daemon, rf" {process}: the supervisor has ended; .* 3m20s unless "),
                       f"{process} says so")
        with Daemon(*daemon.flags) as second:
            # The processes write where the first supervisor's standard error went.
            for process in processes:
                wait_until(lambda: lines(daemon, rf" {process}: has a supervisor again, after "),
                           f"{process} says that it is over")
            wait_until(lambda: "supervisor" not in second.status(), "the status says so no more")
            self.assertEqual(metrics(second, "ingot_supervisor_up"), {None: 1})
            self.assertEqual({len(lines(daemon, f" {process}: has a supervisor again")) for process in processes},
                             {1})

    def test_a_stopped_supervisor_is_shown_and_so_are_the_states_that_it_does_not_see(self):
        with Daemon(*FLAGS) as daemon:
            leader = daemon.status()["replicas"][leaders(daemon)[0]]
            ctl(daemon.endpoint, "drill", "stop", "supervisor")
            self.assertEqual(daemon.status()["supervisor"], {"state": "stopped"})
            self.assertEqual(metrics(daemon, "ingot_supervisor_up"), {None: 0})
            os.kill(leader["pid"], signal.SIGSTOP)
            state = lambda: daemon.status()["replicas"][leader["id"]]["state"]
            wait_until(lambda: state() == "stopped", "the status says stopped")
            self.assertEqual(len(one_new_leader(daemon, leader["id"])), 1, daemon.status())
            # The stopped replica has not heard that another one leads, so it is still the one that CONT means.
            self.assertIn(f"{leader['pid']}", ctl(daemon.endpoint, "drill", "cont", "leader"))
            ctl(daemon.endpoint, "drill", "cont", "supervisor")
            wait_until(lambda: "supervisor" not in daemon.status(), "the supervisor runs again")


if __name__ == "__main__":
    unittest.main()
