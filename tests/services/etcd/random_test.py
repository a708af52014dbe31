"""etcd and Ingot answer thousands of random requests alike, errors included."""

import random
import subprocess
import unittest

from etcd_servers import Etcd, LocalServer, WATCHDOG_S
from tests.daemon.ingot_daemon import Daemon

COMPARE = "tests/services/etcd/compare_servers"
COUNT = 4000


def new_seed():
    return random.SystemRandom().getrandbits(63)


class RandomTest(unittest.TestCase):
    def compare(self, make_ours, seed, *flags):
        for _ in range(5):
            with Etcd() as etcd, make_ours() as ours:
                done = subprocess.run([COMPARE, f"--a={etcd.endpoint}", f"--b={ours.endpoint}", f"--seed={seed}",
                                       f"--count={COUNT}", *flags],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=10 * WATCHDOG_S, errors="replace")
            print(done.stdout)
            if "a server gave up" not in done.stdout:  # either may, when the machine delays it for seconds
                break
        self.assertEqual(done.returncode, 0, "compare_servers found a difference, see above")

    def test_services_on_one_store(self):
        self.compare(LocalServer, new_seed(), "--serializable")

    def test_daemon_with_its_defaults(self):
        self.compare(Daemon, 1)

    def test_daemon_with_its_defaults_and_a_new_seed(self):
        self.compare(Daemon, new_seed())

    def test_daemon_with_one_replica(self):
        self.compare(lambda: Daemon("--replicas=1"), new_seed(), "--serializable")


if __name__ == "__main__":
    unittest.main()
