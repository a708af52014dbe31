"""A short chaos run, by a random seed that is printed; tests/chaos/run.sh makes long ones."""

import contextlib
import io
import json
import unittest

import chaos


class Chaos(unittest.TestCase):
    def test_nothing_acknowledged_is_lost_and_histories_are_linearizable(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = chaos.main(["--kills=6", "--stops=3", "--replicas=3", "-o", "json"])
        self.assertEqual(code, 0, output.getvalue())
        summary = json.loads(output.getvalue())
        print(json.dumps(summary, indent=1))
        self.assertGreaterEqual((summary["kills"], summary["stops"]), (6, 3))
        self.assertGreater(summary["acknowledged_writes"], 100)
        self.assertEqual(summary["looked_up"], summary["acknowledged_writes"])


if __name__ == "__main__":
    unittest.main()
