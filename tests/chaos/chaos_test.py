"""A short chaos run on each of a few groups, which a new seed draws; tests/chaos/run.sh makes long ones."""

import contextlib
import io
import json
import unittest

import chaos
from groups import AGREEMENTS, all_groups, drawn_groups
from tests.seeds import drawn_seed

ROUNDS = 3  # so each agreement once
KILLS, STOPS = 3, 2


class Chaos(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_and_histories_are_linearizable(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = chaos.main([f"--rounds={ROUNDS}", f"--kills={KILLS}", f"--stops={STOPS}", f"--seed={drawn_seed()}",
                               "-o", "json"])
        self.assertEqual(code, 0, output.getvalue())
        summaries = [json.loads(line) for line in output.getvalue().splitlines()]
        chaos.show_rounds(summaries)
        self.assertEqual(len(summaries), ROUNDS)
        for summary in summaries:
            self.assertGreaterEqual((summary["kills"], summary["stops"]), (KILLS, STOPS))
            self.assertGreater(summary["acknowledged_writes"], 20)
            for verdict in summary["porcupine"]:
                if verdict.startswith("not judged"):
                    print(f"SKIPPED: {verdict}")
            if summary["blocked"] == 0:  # a group that is blocked for good answers no look-up
                self.assertEqual(summary["looked_up"], summary["acknowledged_writes"])

    def test_every_group_has_its_turn_and_any_three_rounds_have_all_agreements(self):
        for seed in range(20):
            groups = drawn_groups(seed)
            self.assertEqual(sorted(map(str, groups)), sorted(map(str, all_groups())))
            self.assertEqual(len(groups), 24)
            self.assertEqual(len({flags[0] for _, flags in groups[:3]}), len(AGREEMENTS))
            self.assertEqual(groups, drawn_groups(seed))


if __name__ == "__main__":
    unittest.main()
