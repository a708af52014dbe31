"""deploy/short_load.py, which deploy/run.sh calls, against a daemon and, with --compare, an etcd beside it."""

import os
import re
import subprocess
import tempfile
import unittest

from tests.daemon.ingot_daemon import Daemon, INGOT_LOAD

SHORT_LOAD = "deploy/short_load.py"


def run(*flags):
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    done = subprocess.run([SHORT_LOAD, f"--ingot-load={INGOT_LOAD}", "--duration=1s", *flags], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder})
    return done, os.listdir(folder)


def rows(output):
    """(server, clients, requests per second) of each line of figures."""
    return [(name, int(clients), int(rate)) for name, clients, rate in
            re.findall(r"^(ingotd|etcd) +(\d+) +(\d+) ", output, re.M)]


class ShortLoadTest(unittest.TestCase):
    def test_it_shows_one_client_and_64_and_checks_both(self):
        with Daemon() as daemon:
            done, _ = run(f"--endpoint={daemon.endpoint}")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual([row[:2] for row in rows(done.stdout)], [("ingotd", 1), ("ingotd", 64)])
        self.assertTrue(all(rate > 0 for _, _, rate in rows(done.stdout)))
        self.assertEqual(len(re.findall(r"^check held: ingotd, ", done.stdout, re.M)), 2)

    def test_compare_shows_an_etcd_beside_it_and_leaves_nothing_behind(self):
        with Daemon() as daemon:
            done, left = run(f"--endpoint={daemon.endpoint}", "--compare")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual([row[:2] for row in rows(done.stdout)],
                         [("ingotd", 1), ("etcd", 1), ("ingotd", 64), ("etcd", 64)])
        self.assertEqual(len(re.findall(r"^check held: ", done.stdout, re.M)), 4)
        self.assertEqual(left, [])

    def test_without_a_server_it_fails(self):
        done, _ = run("--endpoint=127.0.0.1:1", "--ingot-load=/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
