"""Thousands of new seeds of each agreement with three and with five replicas, and some of other groups. INGOT_SEED=n
begins with seed n, INGOT_SIMULATIONS=n runs n of each group. bazel-bin/tests/simulate runs millions."""

import json
import os
import subprocess
import unittest

from tests.seeds import drawn_seed

SIMULATE = "tests/simulate"
MANY = 3_000
SOME = 500  # of groups that take longer, and are much like another


class ManySeeds(unittest.TestCase):
    def sweep(self, agreement, replicas, seeds, *flags):
        seeds = int(os.environ.get("INGOT_SIMULATIONS", seeds))
        command = [SIMULATE, f"--agreement={agreement}", f"--replicas={replicas}", f"--seed={self.first}",
                   f"--count={seeds}", f"--jobs={os.cpu_count()}", *flags]
        done = subprocess.run([*command, "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:  # once more, for the trace of the shortest run that fails
            trace = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.fail(f"{' '.join(command)}\n{done.stdout}\n{trace.stdout}")
        report = json.loads(done.stdout)
        print(f"{agreement} {replicas} {' '.join(flags)}: {seeds} seeds in {report['seconds']:.0f} s", flush=True)
        self.assertEqual(report["seeds"], seeds)
        return report["sums"]

    @classmethod
    def setUpClass(cls):
        cls.first = drawn_seed()

    def test_1paxos_and_multipaxos(self):
        for agreement in ("1paxos", "multipaxos"):
            for replicas, seeds, *flags in [(3, MANY), (5, MANY), (4, SOME), (6, SOME, "--voters=3")]:
                with self.subTest(agreement=agreement, replicas=replicas):
                    self.assertGreater(self.sweep(agreement, replicas, seeds, *flags)["writes"], 0)

    def test_2pc_whose_replicas_are_stopped_only(self):
        for replicas, seeds, *flags in [(3, MANY), (5, MANY), (4, SOME), (6, SOME, "--voters=3")]:
            with self.subTest(replicas=replicas):
                self.assertGreater(self.sweep("2pc", replicas, seeds, "--no-kills", *flags)["writes"], 0)

    def test_2pc_that_a_death_blocks(self):
        for replicas in (3, 5):
            with self.subTest(replicas=replicas):
                self.sweep("2pc", replicas, SOME)


if __name__ == "__main__":
    unittest.main()
