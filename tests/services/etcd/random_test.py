"""etcd and Ingot answer thousands of random requests alike, errors included, and tell watches of the same events; so
with wrong requests of leases, locks and elections (INGOT_LONG_TESTS=1: ten thousand)."""

import os
import subprocess
import unittest

from etcd_servers import Etcd, LocalServer, WATCHDOG_S
from tests.daemon.ingot_daemon import Daemon
from tests.seeds import drawn_seed

COMPARE = "tests/services/etcd/compare_servers"
COMPARE_WATCHES = "tests/services/etcd/compare_watches"
COUNT = 2000
COMPARE_WRONG = "tests/services/etcd/compare_wrong"
WATCHES_COUNT = 1000
WRONG_COUNT = 10_000 if os.environ.get("INGOT_LONG_TESTS") else 1000
# etcd ends a request after some seconds, which a busy machine may take: then the same seed runs with a new etcd. If
# Ingot does, that is a failure.
ETCD_GIVES_UP_MAX = 4


class RandomTest(unittest.TestCase):
    def compare(self, make_ours, seed, *flags, program=COMPARE, count=COUNT):
        for gave_up in range(1, ETCD_GIVES_UP_MAX + 2):
            with Etcd() as etcd, make_ours() as ours:
                more = ["--of-3-6"] if etcd.version() >= (3, 6) else []
                done = subprocess.run([program, f"--a={etcd.endpoint}", f"--b={ours.endpoint}", f"--seed={seed}",
                                       f"--count={count}", *flags, *more],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=10 * WATCHDOG_S, errors="replace")
            print(done.stdout)
            if "the first server gave up" not in done.stdout or gave_up > ETCD_GIVES_UP_MAX:
                break
            print("RETRIED: etcd gave up on a request")
        self.assertEqual(done.returncode, 0, "a difference, see above")

    def test_services_on_one_store(self):
        self.compare(LocalServer, drawn_seed(), "--serializable")

    # Serializable reads are never behind what the one client has been answered before, as with the one etcd.
    def test_daemon_with_its_defaults(self):
        self.compare(Daemon, drawn_seed(), "--serializable")

    def test_daemon_with_one_replica(self):
        self.compare(lambda: Daemon("--replicas=1"), drawn_seed(), "--serializable")

    def test_watches_of_the_services_on_one_store(self):
        self.compare(LocalServer, drawn_seed(), program=COMPARE_WATCHES, count=WATCHES_COUNT)

    def test_wrong_requests_of_leases_locks_and_elections(self):
        self.compare(Daemon, drawn_seed(), program=COMPARE_WRONG, count=WRONG_COUNT)

    def test_watches_of_the_daemon(self):
        self.compare(Daemon, drawn_seed(), program=COMPARE_WATCHES, count=WATCHES_COUNT)


if __name__ == "__main__":
    unittest.main()
