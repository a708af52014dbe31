"""All replicas of a real daemon are killed at one instant, under load, several times in a row: they restart from the
newest published snapshot and the segments of the dead, and no acknowledged write is lost."""

import os
import signal
import unittest
import urllib.request

from ingot_daemon import WATCHDOG_S, Daemon, Load, ctl, outage_of, wait_until

ROUNDS = int(os.environ.get("INGOT_ALL_DEAD_ROUNDS", "3"))


def all_up(daemon):
    replicas = daemon.status()["replicas"]
    return replicas if all(r["state"] == "up" for r in replicas) else None


def metric(daemon, name):
    """The sum of a metric over all replicas."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=WATCHDOG_S) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + "{"))


class AllDead(unittest.TestCase):
    def under_load(self, *flags):
        with self.subTest(flags), Daemon(*flags) as daemon:
            load = Load(daemon, f"--duration={3 * ROUNDS}s", "--keys=300", "--value-bytes=2000", "--read-share=0.2")
            applied = 0
            for turn in range(ROUNDS):
                before = applied
                ctl(daemon.endpoint, "put", f"turn-{turn}", "kept")
                wait_until(lambda: all_up(daemon) is not None, "all replicas are up")
                wait_until(lambda: not load.runs() or
                           max(r["applied"] for r in all_up(daemon) or [{"applied": 0}]) > before + 100,
                           "the load is under way")
                replicas = all_up(daemon) or daemon.status()["replicas"]
                applied = max(r["applied"] for r in replicas)
                incarnations = {r["id"]: r["incarnation"] for r in replicas}
                for replica in replicas:
                    if replica["pid"] > 0:  # 0 would be this test's process group
                        os.kill(replica["pid"], signal.SIGKILL)
                wait_until(lambda: all(r["incarnation"] > incarnations[r["id"]] and r["state"] == "up"
                                       for r in daemon.status()["replicas"]), "all are started again")
            report = load.require_held()
            for turn in range(ROUNDS):
                self.assertIn("kept", ctl(daemon.endpoint, "get", f"turn-{turn}"))
            daemon.equal_digests()

            def snapshot_made():  # a new incarnation counts from 0, and may begin after the load
                if metric(daemon, "ingot_snapshots_made_total") > 0:
                    return True
                daemon.load("--count=1000", "--clients=8", "--keys=300", "--value-bytes=2000", "--read-share=0")
                return False

            wait_until(snapshot_made, "a replica of the last lives makes a snapshot")
            print(f"{flags}: {ROUNDS} deaths of all, {outage_of(report)}, "
                  f"{metric(daemon, 'ingot_snapshots_made_total'):.0f} snapshots")

    def test_three_replicas(self):
        self.under_load("--replicas=3")

    def test_five_replicas_and_the_other_agreement(self):
        self.under_load("--replicas=5", "--agreement=multipaxos")


if __name__ == "__main__":
    unittest.main()
