"""A case that does not pass needs an answer, and an answer needs such a case."""

import os
import tempfile
import unittest

from h2spec import ANSWERS, answers_in, cases_of, differences

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="5.1. Stream States" package="http2/5.1" id="5.1" tests="3" skipped="1" failures="0" errors="1">
    <testcase package="http2/5.1" classname="Sends a DATA frame" time="0.0001"></testcase>
    <testcase package="http2/5.1" classname="Sends a PING frame" time="2.0"><error>GOAWAY Frame
Timeout</error></testcase>
    <testcase package="http2/5.1" classname="Sends much" time="0.1"><skipped></skipped></testcase>
  </testsuite>
  <testsuite name="6.1. DATA" package="http2/6.1" id="6.1" tests="1" skipped="0" failures="1" errors="0">
    <testcase package="http2/6.1" classname="Sends none" time="0.0001"><failure>Expect: it</failure></testcase>
  </testsuite>
</testsuites>
"""


class H2spec(unittest.TestCase):
    def cases(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(REPORT)
            file.flush()
            return cases_of(file.name)

    def test_cases_are_named_by_section_and_number(self):
        self.assertEqual([(case.name, case.outcome, case.detail) for case in self.cases()],
                         [("http2/5.1/1", "passed", ""), ("http2/5.1/2", "failed", "GOAWAY Frame Timeout"),
                          ("http2/5.1/3", "skipped", ""), ("http2/6.1/1", "failed", "Expect: it")])

    def test_each_case_that_does_not_pass_needs_an_answer(self):
        answers = {"http2/5.1/2": "a reason", "http2/5.1/3": "a reason", "http2/6.1/1": "a reason"}
        self.assertEqual(list(differences(self.cases(), answers)), [])
        for name in list(answers):
            fewer = {other: text for other, text in answers.items() if other != name}
            self.assertEqual([each.partition(" ")[0] for each in differences(self.cases(), fewer)], [name])

    def test_an_answer_that_no_case_needs_must_go(self):
        answers = {"http2/5.1/2": "x", "http2/5.1/3": "x", "http2/6.1/1": "x", "http2/5.1/1": "x", "http2/9.9/1": "x"}
        self.assertEqual([each.partition(" ")[0] for each in differences(self.cases(), answers)],
                         ["http2/5.1/1", "http2/9.9/1"])

    def test_the_file_of_answers(self):
        self.assertEqual(answers_in("# a comment\n\nhttp2/5.1/2: it is so: indeed\n"),
                         {"http2/5.1/2": "it is so: indeed"})
        for wrong in ("http2/5.1/2", "http2/5.1/2: ", "a: b\na: c"):
            with self.assertRaises(ValueError):
                answers_in(wrong)
        self.assertTrue(os.path.exists(ANSWERS))
        with open(ANSWERS) as file:
            answers_in(file.read())


if __name__ == "__main__":
    unittest.main()
