"""What ended incarnations have stored is kept until a published snapshot holds it, however many they are."""

import os
import re
import resource
import signal
import threading
import unittest
import urllib.request

from ingot_daemon import Daemon, ctl, processes_below, wait_until, with_role

KILLS = 18
MIB = 1024 * 1024
VALUE_BYTES = 100_000  # a word of a command line has at most 128 KiB


def replica(daemon, number):
    return daemon.status()["replicas"][number]


def kill_and_wait(daemon, numbers):
    """Kills replicas at one instant, and waits until all of them are up again."""
    before = daemon.status()["replicas"]
    for number in numbers:
        os.kill(before[number]["pid"], signal.SIGKILL)
    wait_until(lambda: all(replica(daemon, n)["state"] == "up" and
                           replica(daemon, n)["incarnation"] > before[n]["incarnation"] for n in numbers),
               f"replicas {numbers} are up again")


def make_acceptor(daemon, number):
    """Moves the acceptor's role to a replica, as often as it is refused because the replica has not caught up yet."""
    def accepts():
        if replica(daemon, number)["role"] == "acceptor":
            return True
        try:
            ctl(daemon.endpoint, "move", "acceptor", f"--to={number}")
        except AssertionError:
            pass
        return False

    wait_until(accepts, f"replica {number} is the acceptor")


def fill_the_acceptors_segment(daemon):
    """Writes a MiB that one acceptor stores, and returns which. On a busy machine a slow one may lose the role."""
    while True:
        acceptor = with_role(daemon, "acceptor")["id"]
        for turn in range(MIB // VALUE_BYTES + 1):
            ctl(daemon.endpoint, "put", f"turn-{turn}", "x" * VALUE_BYTES)
        if with_role(daemon, "acceptor")["id"] == acceptor:
            return acceptor


def allow_snapshots(daemon, allowed):
    """Without, no process of the instance but the supervisor can write files, which snapshots are. The next
    incarnation of a replica comes from the standby process, which is therefore awaited."""
    wait_until(lambda: "@standby" in daemon.children(), "a standby process is there")
    for pid in processes_below(daemon.process.pid):
        try:
            _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most if allowed else 0, most))
        except ProcessLookupError:
            pass


def metric(daemon, name):
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)[1])


class KeptSegments(unittest.TestCase):
    def test_more_than_sixteen_incarnations_of_an_acceptor_die_without_a_snapshot_and_then_everybody(self):
        """The highest voter, whose turn it is to make a snapshot, is stopped: others make one in its place only after
        a while. So many incarnations of replica 1 each hold a write that no snapshot holds."""
        with Daemon("--replicas=5") as daemon:
            leader = with_role(daemon, "leader")["id"]
            os.kill(replica(daemon, 4)["pid"], signal.SIGSTOP)
            acceptor = 1 if leader != 1 else 2
            for turn in range(KILLS):
                make_acceptor(daemon, acceptor)
                ctl(daemon.endpoint, "put", f"turn-{turn}", f"kept-{turn}")
                kill_and_wait(daemon, [acceptor])
            self.assertGreater(replica(daemon, acceptor)["incarnation"], 16)
            kill_and_wait(daemon, range(5))
            for turn in range(KILLS):
                self.assertIn(f"kept-{turn}", ctl(daemon.endpoint, "get", f"turn-{turn}"))
            daemon.require_service()
            daemon.equal_digests()

    def test_beyond_the_memory_for_kept_segments_writes_wait_until_a_snapshot_is_published(self):
        with Daemon("--kept-segments-mib=1") as daemon:
            allow_snapshots(daemon, False)
            acceptor = fill_the_acceptors_segment(daemon)
            for _ in range(2):  # the newest two incarnations of a replica do not count
                self.assertNotIn("kept_segments", daemon.status())
                kill_and_wait(daemon, [acceptor])
                allow_snapshots(daemon, False)
            wait_until(lambda: "kept_segments" in daemon.status(), "the status says that too much is kept")
            kept = daemon.status()["kept_segments"]
            self.assertEqual((kept["segments"], metric(daemon, "ingot_kept_segments")), (1, 1.0))
            self.assertGreater(kept["bytes"], MIB)
            self.assertEqual(metric(daemon, "ingot_kept_segments_bytes"), kept["bytes"])
            self.assertRegex(kept["why"], "^writes wait until a snapshot is published: .*; --kept-segments-mib is 1$")
            self.assertIn(kept["why"] + "\n", ctl(daemon.endpoint, "status"))
            self.assertTrue([line for line in daemon.log if kept["why"] in line], daemon.log)

            late = threading.Thread(target=ctl, args=(daemon.endpoint, "put", "late", "written"), daemon=True)
            late.start()
            wait_until(lambda: "the segments of ended incarnations" in daemon.status().get("blocked", {}).get("why", ""),
                       "the status says why writes wait")
            self.assertTrue(late.is_alive(), "the write was acknowledged though nothing may be written")
            self.assertEqual(metric(daemon, "ingot_blocked"), 1.0)

            allow_snapshots(daemon, True)
            late.join()
            self.assertIn("written", ctl(daemon.endpoint, "get", "late"))
            wait_until(lambda: "kept_segments" not in daemon.status(), "the status says so no more")
            self.assertEqual(metric(daemon, "ingot_kept_segments"), 0.0)
            wait_until(lambda: any("a snapshot is published, and writes go on" in line for line in daemon.log),
                       "the log says that it is over")
            daemon.require_service()
            daemon.equal_digests()


if __name__ == "__main__":
    unittest.main()
