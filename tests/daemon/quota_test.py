"""A group at its quota: it refuses, survives kills there, gets room again, and loses nothing that was acknowledged; and
automatic compaction, which no kill of a process ends."""

import os
import re
import signal
import unittest
import urllib.request

from ingot_daemon import Daemon, ctl, run_ctl, wait_until, with_role

QUOTA = 1_500_000
VALUE = "v" * 100_000  # a word of a command line has at most 128 KiB
FULL = "etcdserver: mvcc: database space exceeded"


def key(number):
    return f"big-{number:02}"


def metric(daemon, name):
    """The greatest value of all replicas."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        return max(float(value) for value in re.findall(rf"^{name}{{.*}} (\S+)$", answer.read().decode(), re.MULTILINE))


def fill(daemon):
    """Puts until one is refused; returns how many were acknowledged. One whose outcome is unknown is put again."""
    number = 0
    while True:
        done = run_ctl(daemon.endpoint, "put", key(number), VALUE)
        if FULL in done.stderr:
            return number
        number += done.returncode == 0


def kill(daemon, pids):
    before = daemon.status()["replicas"]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    killed = [r["id"] for r in before if r["pid"] in pids]
    wait_until(lambda: all(r["state"] == "up" and r["incarnation"] > before[r["id"]]["incarnation"]
                           for r in daemon.status()["replicas"] if r["id"] in killed), "the killed replicas are back")


class Quota(unittest.TestCase):
    def require_full(self, daemon, keys):
        """The alarm stands, puts are refused, and what was acknowledged is there."""
        self.assertEqual(ctl(daemon.endpoint, "alarm", "list", "-o", "json"), '{"alarms":["NOSPACE"]}\n')
        wait_until(lambda: FULL in run_ctl(daemon.endpoint, "put", "small", "1").stderr, "a put is refused")
        found = ctl(daemon.endpoint, "get", "big-", "--prefix", "--keys-only")
        self.assertEqual(re.findall(r"big-\d+", found), keys)

    def test_a_group_is_driven_into_its_quota_killed_there_and_works_again(self):
        with Daemon(f"--quota-backend-bytes={QUOTA}", "--auto-compaction-mode=revision",
                    "--auto-compaction-retention=1") as daemon:
            keys = [key(number) for number in range(fill(daemon))]
            # A put whose outcome was unknown may have taken room twice.
            self.assertIn(len(keys), range(2, QUOTA // (len(VALUE) + len(key(0)) + 256) + 1))
            self.require_full(daemon, keys)
            store = daemon.status()["store"]
            self.assertEqual((store["quota_bytes"], store["no_space"]), (QUOTA, True))
            self.assertIn("NOSPACE: puts are refused", ctl(daemon.endpoint, "status"))
            wait_until(lambda: metric(daemon, "ingot_store_no_space") == 1, "the metric shows the alarm")
            self.assertEqual(metric(daemon, "ingot_store_quota_bytes"), QUOTA)

            kill(daemon, [with_role(daemon, "leader")["pid"]])
            self.require_full(daemon, keys)
            kill(daemon, [with_role(daemon, "replica")["pid"]])
            self.require_full(daemon, keys)
            kill(daemon, [replica["pid"] for replica in daemon.status()["replicas"]])
            self.require_full(daemon, keys)
            daemon.equal_digests()

            # The reserve is for such deletes; the compaction that follows by itself keeps the last one's history.
            ctl(daemon.endpoint, "del", keys[0])
            ctl(daemon.endpoint, "del", keys[1])
            wait_until(lambda: daemon.status()["store"]["history_bytes"] < 2 * len(VALUE), "a compaction has made room")
            self.require_full(daemon, keys[2:])  # until it is disarmed
            self.assertEqual(ctl(daemon.endpoint, "alarm", "disarm"), "NOSPACE: disarmed\n")
            self.assertEqual(ctl(daemon.endpoint, "alarm", "list"), "no alarm\n")
            ctl(daemon.endpoint, "put", keys[0], VALUE)
            found = ctl(daemon.endpoint, "get", "big-", "--prefix", "--keys-only")
            self.assertEqual(re.findall(r"big-\d+", found), [keys[0], *keys[2:]])
            daemon.require_service()
            daemon.equal_digests()

    def compacted_beyond(self, daemon, revision):
        wait_until(lambda: metric(daemon, "ingot_store_compact_revision") > revision,
                   f"revisions are compacted beyond {revision}")
        return metric(daemon, "ingot_store_compact_revision")

    def test_automatic_compaction_goes_on_whatever_process_was_killed(self):
        with Daemon("--auto-compaction-retention=1s") as daemon:
            ctl(daemon.endpoint, "put", "a", "first")
            ctl(daemon.endpoint, "put", "a", "second")
            compacted = self.compacted_beyond(daemon, 2)
            victims = [lambda: daemon.children()["@front-end"], lambda: [with_role(daemon, "leader")["pid"]],
                       lambda: [r["pid"] for r in daemon.status()["replicas"] if r["state"] == "up"]]
            for pids in victims:
                for pid in pids():
                    os.kill(pid, signal.SIGKILL)
                ctl(daemon.endpoint, "put", "a", "more")
                compacted = self.compacted_beyond(daemon, compacted)
            self.assertIn("more", ctl(daemon.endpoint, "get", "a"))
            daemon.equal_digests()


if __name__ == "__main__":
    unittest.main()
