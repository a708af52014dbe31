"""Thousands of random requests, answered alike by etcd and by Ingot, errors included."""

import random
import subprocess
import unittest

from etcd_servers import Etcd, LocalServer, WATCHDOG_S
from tests.daemon.ingot_daemon import Daemon

COMPARE = "tests/etcd/compare_servers"
COUNT = 4000


def new_seed():
    return random.SystemRandom().getrandbits(63)


class RandomTest(unittest.TestCase):
    def compare(self, ours, seed, *flags):
        with Etcd() as etcd:
            done = subprocess.run([COMPARE, f"--a={etcd.endpoint}", f"--b={ours.endpoint}", f"--seed={seed}",
                                   f"--count={COUNT}", *flags],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=10 * WATCHDOG_S, errors="replace")
        print(done.stdout)
        self.assertEqual(done.returncode, 0, "compare_servers found a difference, see above")

    def test_services_on_one_store(self):
        with LocalServer() as ours:
            self.compare(ours, new_seed(), "--serializable")

    def test_daemon_with_its_defaults(self):
        with Daemon() as ours:
            self.compare(ours, 1)

    def test_daemon_with_its_defaults_and_a_new_seed(self):
        with Daemon() as ours:
            self.compare(ours, new_seed())

    def test_daemon_with_one_replica(self):
        with Daemon("--replicas=1") as ours:
            self.compare(ours, new_seed(), "--serializable")


if __name__ == "__main__":
    unittest.main()
