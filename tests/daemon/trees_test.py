"""Broadcasts on trees in a real daemon: an inner replica that stops under load is bypassed, the others keep up, and all
replicas agree when it goes on."""

import os
import signal
import subprocess
import unittest

from ingot_daemon import INGOTD, WATCHDOG_S, Daemon, Load, ctl, wait_until


def inner_replica(status):
    """A replica other than the root that has children."""
    tree = status["tree"]
    return next(r["id"] for r in tree["replicas"] if r["children"] and r["id"] != tree["root"])


class Trees(unittest.TestCase):
    def check_stop_under_load(self, *flags):
        with self.subTest(flags), Daemon("--replicas=7", *flags) as daemon:
            status = daemon.status()
            self.assertEqual(status["tree"]["version"], 0)
            victim = inner_replica(status)
            load = Load(daemon, "--duration=3s")
            wait_until(lambda: daemon.status()["replicas"][victim]["applied"] > 10, "the load is under way")
            os.kill(status["replicas"][victim]["pid"], signal.SIGSTOP)
            trees = []

            # Each replica shows the parent that it knows, so until all know the new tree the victim still has children.
            def by_passed():
                ctl(daemon.endpoint, "put", "some", "work")  # trees are checked only under load
                tree = daemon.status()["tree"]
                trees.append(tree)
                others = (r for r in tree["replicas"] if r["id"] != victim)
                return tree["replicas"][victim]["bypassed"] and all(r["version"] == tree["version"] for r in others)

            wait_until(by_passed, "it is by-passed")
            self.assertEqual(trees[-1]["replicas"][victim]["children"], [])
            self.assertRegex(ctl(daemon.endpoint, "status"), rf"by-passed:[ \d]*\b{victim}\b")
            self.assertGreater(load.require_held()["acknowledged"], 0)

            def others_keep_up():
                replicas = daemon.status()["replicas"]
                return all(r["lag"] == 0 for r in replicas if r["id"] != victim)

            wait_until(others_keep_up, "the others have everything though it is stopped")
            self.assertGreater(daemon.status()["replicas"][victim]["lag"], 0)
            os.kill(status["replicas"][victim]["pid"], signal.SIGCONT)
            daemon.equal_digests()

    def test_a_stopped_inner_replica_is_bypassed(self):
        self.check_stop_under_load()
        self.check_stop_under_load("--agreement=multipaxos", "--transport=srbp", "--tree=binary")

    def test_a_dead_inner_replica_delays_no_other_and_restarts(self):
        with Daemon("--replicas=7") as daemon:
            status = daemon.status()
            victim = inner_replica(status)
            ctl(daemon.endpoint, "put", "before", "death")
            os.kill(status["replicas"][victim]["pid"], signal.SIGKILL)

            def back_and_caught_up():
                ctl(daemon.endpoint, "put", "after", "death")
                now = daemon.status()
                return (now["replicas"][victim]["incarnation"] == 2 and not now["tree"]["replicas"][victim]["bypassed"]
                        and all(r["state"] == "up" and r["lag"] == 0 for r in now["replicas"]))

            wait_until(back_and_caught_up, "it is back in the tree, and all have everything")

    def test_small_groups_and_stars_show_no_tree(self):
        for flags in ((), ("--replicas=7", "--tree=star")):
            with self.subTest(flags), Daemon(*flags) as daemon:
                self.assertNotIn("tree", daemon.status())

    def test_wrong_flags_change_nothing(self):
        for flag, said in (("--tree=oak", "--tree=oak is no tree; give best, star"),
                           ("--machine=/nowhere.json", "cannot be read")):
            done = subprocess.run([INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", flag], stderr=subprocess.PIPE,
                                  text=True, timeout=WATCHDOG_S)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
