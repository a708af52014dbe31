"""The checkers work: Porcupine accepts linearizable histories and refuses those with a lost write or a stale read."""

import glob
import os
import tempfile
import unittest

from checker import HERE, build_porcupine, porcupine
from tests.help_test import faults

CHECKER, WHY_NOT = build_porcupine()


@unittest.skipIf(CHECKER is None, f"nothing was judged by Porcupine: {WHY_NOT}")
class CheckerTest(unittest.TestCase):
    def histories(self, kind):
        found = sorted(glob.glob(os.path.join(HERE, "porcupine", "histories", kind + "-*.jsonl")))
        self.assertGreaterEqual(len(found), 3)
        return found

    def test_linearizable_histories_are_accepted(self):
        code, reports, error = porcupine(CHECKER, *self.histories("fine"))
        self.assertEqual(code, 0, (reports, error))
        self.assertEqual({r["verdict"] for r in reports}, {"Ok"})

    def test_each_impossible_history_is_refused(self):
        for history in self.histories("bad"):
            code, reports, error = porcupine(CHECKER, history)
            self.assertEqual((code, reports[0]["verdict"], reports[0]["key"]), (1, "Illegal", "a"), (history, error))

    def test_malformed_histories_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "{\n", '{"op":"put"}\n', '{"op":"eat","key":"a"}\n',
                         '{"op":"put","key":"a","written":0,"called_ns":1}\n',
                         '{"op":"get","key":"a","called_ns":9,"answered_ns":8}\n'):
                path = os.path.join(folder, "history")
                with open(path, "w") as file:
                    file.write(text)
                code, _, error = porcupine(CHECKER, path)
                self.assertEqual((code, error.count("\n")), (2, 1), (text, error))
            self.assertEqual(porcupine(CHECKER, os.path.join(folder, "nowhere"))[0], 2)

    def test_the_checker_explains_itself(self):
        self.assertEqual(faults([CHECKER]), [])


if __name__ == "__main__":
    unittest.main()
