"""A new state is a new cluster to etcd's clients, and one that lives on is not, whatever process has died."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from etcd_servers import ETCDCTL, PATIENCE, WATCHDOG_S, ctl_environment
from tests.daemon.ingot_daemon import Daemon, run_ctl, wait_until

GRACE = "--orphan-grace=200s"  # longer than any wait of this test


def unique_name(what):
    return f"{what}-{os.getpid()}-{time.monotonic_ns()}"


def header(endpoint):
    done = subprocess.run([ETCDCTL, f"--endpoints={endpoint}", *PATIENCE, "get", "kept", "-w", "json"],
                          env=ctl_environment(), stdout=subprocess.PIPE, check=True, timeout=WATCHDOG_S)
    return json.loads(done.stdout)["header"]


def ids(endpoint):
    found = header(endpoint)
    return found["cluster_id"], found["member_id"]


class ClusterId(unittest.TestCase):
    def test_a_state_that_began_anew_had_the_cluster_id_of_the_one_that_was_stopped(self):
        name = unique_name("cluster")
        with Daemon(f"--name={name}") as first:
            former = ids(first.endpoint)
            self.assertEqual(first.stop(), 0)
        with Daemon(f"--name={name}") as second:
            self.assertEqual(header(second.endpoint)["revision"], 1)
            cluster, member = ids(second.endpoint)
            self.assertNotEqual(cluster, former[0])
            self.assertEqual(member, former[1])

    def test_a_state_that_began_with_a_backup_is_another_cluster_than_the_one_that_was_saved(self):
        name = unique_name("cluster")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved")
            with Daemon(f"--name={name}") as first:
                run_ctl(first.endpoint, "put", "kept", "1")
                former, saved = ids(first.endpoint), header(first.endpoint)["revision"]
                self.assertEqual(run_ctl(first.endpoint, "snapshot", "save", path).returncode, 0)
                self.assertEqual(first.stop(), 0)
            with Daemon(f"--name={name}", f"--restore={path}") as second:
                self.assertEqual(header(second.endpoint)["revision"], saved)
                cluster, member = ids(second.endpoint)
                self.assertNotEqual(cluster, former[0])
                self.assertEqual(member, former[1])

    def test_a_state_that_lives_keeps_its_cluster_id_whatever_has_died(self):
        flags = (f"--name={unique_name('cluster')}", GRACE)
        with Daemon(*flags) as first:
            run_ctl(first.endpoint, "put", "kept", "1")
            before = ids(first.endpoint)
            for pid in [replica["pid"] for replica in first.status()["replicas"]] + first.children()["@front-end"]:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: run_ctl(first.endpoint, "get", "kept").returncode == 0, "it serves again")
            self.assertEqual(ids(first.endpoint), before)
            first.process.kill()
            first.process.wait(WATCHDOG_S)
            with Daemon(*flags) as second:
                self.assertTrue(any("attached to" in line for line in second.log), second.log)
                self.assertEqual(ids(second.endpoint), before)
                self.assertGreaterEqual(header(second.endpoint)["revision"], 2)


if __name__ == "__main__":
    unittest.main()
