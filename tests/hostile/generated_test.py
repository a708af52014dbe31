"""Some seconds of drawn schedules against a real ingotd (generated.py)."""

import unittest

import generated
from tests.seeds import drawn_seed

SECONDS = 15  # in which schedules begin


class Generated(unittest.TestCase):
    def test_memory_stays_bounded_and_an_ordinary_client_has_its_answers(self):
        generated.play(SECONDS, drawn_seed())

    def test_accounts_are_read_from_the_metrics(self):
        values = {'ingot_door_held_bytes{loop="0",what="answers"}': 2 ** 20, "ingot_watches_behind": 5.0,
                  'ingot_door_held_bytes{loop="1",what="answers"}': 2 ** 20, 'ingot_watches{loop="0"}': 3.0}
        self.assertEqual(generated.held_mib(values, "answers"), 2)
        self.assertEqual(generated.sums(values)["ingot_watches"], 3)
        self.assertEqual(generated.sums(values)["ingot_door_held_bytes"], 2 ** 21)

    def test_flags(self):
        self.assertEqual(generated.parse(["--hours=2", "--seed=7"]).seed, 7)
        with self.assertRaises(SystemExit) as refused:
            generated.parse(["--hours=-1"])
        self.assertEqual(refused.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
