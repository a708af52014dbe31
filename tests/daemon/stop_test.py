"""The kernel tells the supervisor that a leader or an acceptor is stopped: the others replace it at once, also when no
client waits. What stops in turns, and what another supervisor has started, moves no role that way."""

import os
import re
import signal
import time
import unittest
import urllib.request

from ingot_daemon import WATCHDOG_S, Daemon, Load, ctl, outage_of, wait_until, with_role

CYCLES = 12
STUTTER_S = 10  # kStutterMs


def metrics(daemon, name):
    """The values of one metric, by its labels."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        text = answer.read().decode()
    return {match[1]: float(match[2]) for match in re.finditer(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.M)}


def stops(daemon):
    """Stops that were a reason to doubt, and stops that were none."""
    counted = metrics(daemon, "ingot_stops_total")
    return counted['doubted="yes"'], counted['doubted="no"']


def state(daemon, victim):
    return daemon.status()["replicas"][victim["id"]]["state"]


def stop(daemon, victim):
    os.kill(victim["pid"], signal.SIGSTOP)
    wait_until(lambda: state(daemon, victim) == "stopped", "the status says that it is stopped")


def go_on(daemon, victim):
    """Returns a time at which it was still stopped."""
    before = time.monotonic()
    os.kill(victim["pid"], signal.SIGCONT)
    wait_until(lambda: state(daemon, victim) == "up", "the status says that it goes on")
    return before


def ballots(daemon):
    return [replica["ballot"] for replica in daemon.status()["replicas"]]


class Stops(unittest.TestCase):
    def replaced(self, role, *flags):
        with self.subTest(role, flags=flags), Daemon(*flags) as daemon:
            victim = with_role(daemon, role)
            others = len(daemon.status()["replicas"]) - 1
            stop(daemon, victim)
            wait_until(lambda: with_role(daemon, role)["id"] != victim["id"], f"another replica is the {role}")
            self.assertEqual(stops(daemon), (1, 0))
            wait_until(lambda: sum(metrics(daemon, "ingot_doubts_total").values()) == others, "each other was told")
            said = f"replica {victim['id']} (pid {victim['pid']}) was stopped by signal 19"
            wait_until(lambda: any(said in line for line in daemon.log), "the supervisor says so")
            ctl(daemon.endpoint, "put", "while", "stopped")
            go_on(daemon, victim)
            daemon.equal_digests()
            self.assertNotEqual(with_role(daemon, role)["id"], victim["id"])

    def test_a_stopped_leader_is_replaced_though_no_client_waits(self):
        self.replaced("leader")
        self.replaced("leader", "--replicas=5", "--transport=srbp")
        self.replaced("leader", "--agreement=multipaxos")

    def test_a_stopped_acceptor_is_replaced_though_no_client_waits(self):
        self.replaced("acceptor")
        self.replaced("acceptor", "--replicas=5")

    def test_no_write_is_lost_when_both_roles_are_stopped_in_turn_under_load(self):
        with Daemon("--replicas=5") as daemon:
            load = Load(daemon, "--duration=3s", "--keys=200", "--read-share=0.3")
            load.wait_until_under_way()
            for role in ("leader", "acceptor", "leader"):
                victim = with_role(daemon, role)
                stop(daemon, victim)
                wait_until(lambda: with_role(daemon, role)["id"] != victim["id"], f"another replica is the {role}")
                go_on(daemon, victim)
            report = load.require_held()
            daemon.equal_digests()
            print(outage_of(report))

    # The first stop moves the lead. The others come within ten seconds after the end of the one before, and no client
    # waits: nothing moves, though each stop is noticed.
    def test_a_replica_that_stops_and_goes_on_in_turns_moves_no_role(self):
        with Daemon() as daemon:
            victim = with_role(daemon, "leader")
            stop(daemon, victim)
            wait_until(lambda: with_role(daemon, "leader")["id"] != victim["id"], "another replica leads")
            stopped_at = go_on(daemon, victim)
            daemon.equal_digests()
            ctl(daemon.endpoint, "move", "leader", f"--to={victim['id']}")
            wait_until(lambda: len(set(ballots(daemon))) == 1, "all know the leader")
            before = ballots(daemon)
            for cycle in range(CYCLES):
                stop(daemon, victim)
                if time.monotonic() - stopped_at > STUTTER_S:
                    print("SKIPPED: the machine is too slow for a process that stutters")
                    return go_on(daemon, victim)
                time.sleep(0.01)
                stopped_at = go_on(daemon, victim)
                self.assertEqual(stops(daemon), (1, cycle + 1))
            self.assertEqual(ballots(daemon), before)
            self.assertEqual(with_role(daemon, "leader")["id"], victim["id"])
            ctl(daemon.endpoint, "put", "still", "here")

    # A stop of an adopted process is not reported: only a client that waits shows that it does not answer.
    def test_an_adopted_replica_is_replaced_after_its_silence(self):
        flags = (f"--name=adopted-{os.getpid()}", "--orphan-grace=200s")
        with Daemon(*flags) as first:
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            with Daemon(*flags) as second:
                victim = with_role(second, "leader")
                before = ballots(second)
                stop(second, victim)
                self.assertEqual(stops(second), (0, 0))
                self.assertEqual(ballots(second), before)
                ctl(second.endpoint, "put", "a", "waiting client")
                wait_until(lambda: with_role(second, "leader")["id"] != victim["id"], "another replica leads")
                self.assertEqual(sum(metrics(second, "ingot_doubts_total").values()), 0)
                go_on(second, victim)
                second.equal_digests()


if __name__ == "__main__":
    unittest.main()
