"""Holders are known to build.sh, and a question gets its own answer; tests/clients/recipes.sh plays the recipes."""

import os
import re
import sys
import unittest

import holders
import recipes

HERE = os.path.dirname(os.path.abspath(__file__))
# Answers in the reverse order, and leaves the question "end" unanswered.
PROGRAM = """
import sys
asked = []
for line in sys.stdin:
    number, *words = line.split()
    if words == ["end"]:
        break
    asked.append((number, words))
    if len(asked) == 3:
        for number, words in reversed(asked):
            print(f"{number}: {' '.join(words)}", flush=True)
"""


class Holders(unittest.TestCase):
    def test_build_sh_knows_each(self):
        with open(os.path.join(HERE, "build.sh")) as file:
            cases = " ".join(re.findall(r"^  ([\w.| -]+)\)", file.read(), re.M)).split()
        for _, name in holders.HOLDERS.values():
            self.assertIn(name, cases)

    def test_answers_in_any_order(self):
        with holders.Program([sys.executable, "-c", PROGRAM], "endpoint") as holder:
            fine, refused, skipped = holder.ask("OK", "a", "b"), holder.ask("ERROR", "no"), holder.ask("SKIPPED")
            self.assertEqual(fine.text(), "a b")
            self.assertTrue(recipes.has_it(fine))
            for pending, code in ((refused, "ERROR"), (skipped, "SKIPPED")):
                with self.assertRaises(holders.Refused) as raised:
                    recipes.has_it(pending)
                self.assertEqual(raised.exception.code, code)

    def test_a_holder_that_ends_leaves_no_question_without_an_answer(self):
        with holders.Program([sys.executable, "-c", PROGRAM], "endpoint") as holder:
            pending = holder.ask("OK")
            self.assertFalse(recipes.has_it(pending))
            holder.ask("end")
            with self.assertRaisesRegex(holders.Refused, "the holder has ended"):
                pending.text()


if __name__ == "__main__":
    unittest.main()
