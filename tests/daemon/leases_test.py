"""Leases of a real daemon: none ends early, by the client's clock, whatever is killed or stopped; each ends at last.

How late they end is printed, and asserted nowhere: a busy machine may stop any process for seconds."""

import json
import os
import signal
import threading
import time
import unittest

from ingot_daemon import Daemon, Load, ctl, run_ctl, wait_until

TTL_S = 3


def grant(daemon, ttl_s):
    """(the lease's id, the time before it was asked for)."""
    while True:
        asked = time.monotonic()
        done = run_ctl(daemon.endpoint, "lease", "grant", f"{ttl_s}s", "-o", "json")
        if done.returncode == 0:
            return json.loads(done.stdout)["id"], asked


def attach(daemon, key, lease):
    """False: the lease has ended."""
    while True:
        done = run_ctl(daemon.endpoint, "put", key, "x", f"--lease={lease}")
        if done.returncode == 0 or "lease not found" in done.stderr:
            return done.returncode == 0


def exists(daemon, key):
    return json.loads(ctl(daemon.endpoint, "get", key, "-o", "json"))["count"] == 1


class LeasesTest(unittest.TestCase):
    def require_not_early(self, daemon, key, asked, ttl_s):
        """Waits until the key has vanished. Returns how much later than its lease's time."""
        while exists(daemon, key):
            time.sleep(0.05)
        late_s = time.monotonic() - asked - ttl_s
        self.assertGreaterEqual(late_s, 0, "a lease ended early")
        return late_s

    def test_a_lease_ends_with_its_keys_and_not_early(self):
        with Daemon() as daemon:
            for _ in range(3):
                lease, asked = grant(daemon, TTL_S)
                if attach(daemon, "k", lease):
                    print(f"late by {self.require_not_early(daemon, 'k', asked, TTL_S):.2f} s")
            wait_until(lambda: "0 leases" in ctl(daemon.endpoint, "lease", "list"), "no lease is left")
            daemon.equal_digests()

    def test_a_load_loses_no_event_and_no_lease_through_kills(self):
        with Daemon() as daemon:
            load = Load(daemon, "--duration=6s", "--rate=300", "--read-share=0.2", "--keys=50", "--connections=4",
                        "--watchers=200", "--leases=100", "--lease-ttl=5s")
            load.wait_until_under_way()
            for drill in (["leader", "--wait"], ["front-end"], ["leader", "--wait"]):
                run_ctl(daemon.endpoint, "drill", "kill", *drill)
            report = load.require_held()
            self.assertGreater(report["watches"]["events"], 0)
            self.assertGreater(report["leases"]["keep_alives"], 0)
            print("watches:", report["watches"], "leases:", report["leases"])

    def test_no_lease_ends_early_through_killed_leaders(self):
        with Daemon() as daemon:
            killing = threading.Event()

            def kill():
                while not killing.wait(0.5):
                    run_ctl(daemon.endpoint, "drill", "kill", "leader", "--wait")

            killer = threading.Thread(target=kill)
            killer.start()
            granted = []
            for i in range(4):
                lease, asked = grant(daemon, TTL_S)
                if attach(daemon, f"k{i}", lease):
                    granted.append((f"k{i}", asked))
                time.sleep(1)
            killing.set()  # while leaders are killed, leases get their whole time again and again
            killer.join()
            lates = [self.require_not_early(daemon, key, asked, TTL_S) for key, asked in granted]
            print("late by", ", ".join(f"{late:.2f} s" for late in lates))
            wait_until(lambda: "0 leases" in ctl(daemon.endpoint, "lease", "list"), "no lease is left")
            daemon.equal_digests()

    def test_a_lease_that_is_kept_alive_lasts_through_killed_leaders_and_front_ends(self):
        with Daemon() as daemon:
            lease, kept = grant(daemon, 4 * TTL_S)
            self.assertTrue(attach(daemon, "kept", lease) or time.monotonic() > kept + 4 * TTL_S)
            checks = 0
            for drill in (["leader"], ["front-end"], ["leader"], ["front-end"]):
                run_ctl(daemon.endpoint, "drill", "kill", *drill)
                end = time.monotonic() + TTL_S
                while time.monotonic() < end:
                    asked = time.monotonic()
                    if run_ctl(daemon.endpoint, "lease", "keep-alive", lease, "--once").returncode == 0:
                        kept = asked
                    found = exists(daemon, "kept")
                    if time.monotonic() < kept + 4 * TTL_S:
                        self.assertTrue(found, "a lease that was kept alive has ended")
                        checks += 1
            print(f"checked {checks} times")

    def test_a_group_that_is_stopped_for_longer_than_a_lease_does_not_end_it(self):
        with Daemon() as daemon:
            ttl_s = 4 * TTL_S
            lease, asked = grant(daemon, ttl_s)
            attached = attach(daemon, "k", lease)
            replicas = [replica["pid"] for replica in daemon.status()["replicas"]]
            for pid in replicas:
                os.kill(pid, signal.SIGSTOP)
            stopped = time.monotonic()
            time.sleep(ttl_s + 2)
            goes_on = time.monotonic()
            for pid in replicas:
                os.kill(pid, signal.SIGCONT)
            found = exists(daemon, "k")
            ran_s = (stopped - asked) + (time.monotonic() - goes_on)
            print(f"the group ran for {ran_s:.2f} s of the lease")
            if attached and ran_s < ttl_s:
                self.assertTrue(found, "a lease ended while the whole group was stopped")
            wait_until(lambda: not exists(daemon, "k"), "the lease ends at last")


if __name__ == "__main__":
    unittest.main()
