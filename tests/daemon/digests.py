"""Shared by digests_test and digests_of_many_test."""

import itertools
import unittest

from ingot_daemon import Daemon

# Agreement, transport, isolation.
COMBINATIONS = tuple(itertools.product(("1paxos", "multipaxos", "2pc"), ("nvp", "srbp"), ("process", "thread")))


class EqualDigests(unittest.TestCase):
    def check(self, replicas, agreement, transport, isolation):
        flags = (f"--replicas={replicas}", f"--agreement={agreement}", f"--transport={transport}",
                 f"--isolation={isolation}")
        with self.subTest(flags), Daemon(*flags) as daemon:
            code, report = daemon.load("--duration=1s", "--clients=16", "--keys=200", "--read-share=0.3")
            self.assertEqual(code, 0, report)
            self.assertGreater(report["acknowledged"], 0)
            answers = daemon.equal_digests()
            self.assertEqual(len(answers), replicas)
            print(f"{' '.join(flags)}: {report['acknowledged']} acknowledged, digest {answers[0][-1]}")
