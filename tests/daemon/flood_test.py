"""Requests of clients that flood the daemon are refused; other clients go on, and memory stays bounded."""

import os
import subprocess
import unittest

from ingot_daemon import INGOT_LOAD, TURNED_AWAY, WATCHDOG_S, Daemon, run_ctl, wait_until

MIB = 1 << 20


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Flood(unittest.TestCase):
    def answered(self, daemon):
        """During a flood a put may be refused or time out; its client gets an error then."""
        done = run_ctl(daemon.endpoint, "put", "still", "here")
        if done.returncode != 0:
            self.assertRegex(done.stderr, TURNED_AWAY)
        return done.returncode == 0

    def test_a_flood_is_turned_away_and_memory_stays_bounded(self):
        with Daemon() as daemon:
            front_end = daemon.children()["@front-end"][0]
            flood = subprocess.Popen(
                [INGOT_LOAD, f"--endpoint={daemon.endpoint}", "--clients=2000", "--value-bytes=100000", "--keys=4",
                 "--count=6000", "--timeout=20s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            peak = 0
            try:
                while flood.poll() is None:
                    peak = max(peak, resident_bytes(front_end))
                    self.answered(daemon)
            finally:
                flood.kill()
                flood.wait(WATCHDOG_S)
            print(f"front end: {peak // MIB} MiB resident at most")
            self.assertLess(peak, 1024 * MIB)
            wait_until(lambda: self.answered(daemon), "a put is carried out again after the flood")
            daemon.require_service()


if __name__ == "__main__":
    unittest.main()
