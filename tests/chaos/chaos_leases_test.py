"""A short chaos run with lease holders and watchers on a group that a new seed draws; tests/chaos/run.sh
--clients=leases makes long ones."""

import contextlib
import io
import json
import unittest

import chaos
from tests.seeds import drawn_seed

ROUNDS = 1
KILLS, STOPS = 2, 1
GROUP_STOPS_PERCENT = 50


class ChaosLeases(unittest.TestCase):
    def test_locks_leases_and_events_keep_their_promises(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = chaos.main(["--clients=leases", f"--rounds={ROUNDS}", f"--kills={KILLS}", f"--stops={STOPS}",
                               f"--group-stops={GROUP_STOPS_PERCENT}", f"--seed={drawn_seed()}", "-o", "json"])
        self.assertEqual(code, 0, output.getvalue())
        summaries = [json.loads(line) for line in output.getvalue().splitlines()]
        chaos.show_rounds(summaries)
        self.assertEqual(len(summaries), ROUNDS)
        for summary in summaries:
            self.assertGreaterEqual((summary["kills"], summary["stops"]), (KILLS, STOPS))
            if summary["blocked"] == 0:  # else no event may have come before the block
                self.assertGreater(summary["events"], 0)


if __name__ == "__main__":
    unittest.main()
