"""The scenario is well formed, and the runner finds what differs; tests/clients/run.sh runs the clients themselves."""

import json
import os
import unittest

import answers
import clients
import scenario

HERE = os.path.dirname(os.path.abspath(__file__))
STEP = """
step put
  call etcdserverpb.KV/Put {"key": "a", "value": "*3", "lease": "@2"}
  answer OK {"header": {"revision": "@1"}}
  answer@etcd OK one
  answer@go,etcd OK two
"""


class Scenario(unittest.TestCase):
    def test_the_scenario_is_well_formed(self):
        with open(os.path.join(HERE, "scenario.txt")) as file:
            steps = scenario.parse(file.read())
        self.assertEqual({step.kind for step in steps}, {*scenario.KINDS, "reflect"})
        for step in steps:
            json.dumps(step.compiled(7))

    def test_a_request_is_in_wire_form(self):
        fields = scenario.parse(STEP)[0].compiled(40)
        self.assertEqual(fields["Request"], {"key": "YQ==", "value": "eHh4", "lease": "42"})
        self.assertEqual(fields["Path"], "/etcdserverpb.KV/Put")

    def test_the_answer_of_the_most_names_counts(self):
        step = scenario.parse(STEP)[0]
        self.assertEqual(step.expected("java", "etcd"), ("OK", "one"))
        self.assertEqual(step.expected("go", "etcd"), ("OK", "two"))
        self.assertIn("@1", step.expected("go", "ingotd")[1])

    def test_a_client_of_a_family_answers_as_the_family_and_may_differ(self):
        step = scenario.parse(STEP + "  answer@etcdctl OK three\n  only etcdctl\n")[0]
        self.assertEqual(step.expected("etcdctl-url", "ingotd"), ("OK", "three"))
        self.assertTrue(step.is_for("etcdctl-url") and step.is_for("etcdctl"))
        self.assertFalse(step.is_for("etcd-client-3.4"))

    def test_an_error_names_its_line(self):
        for text, line in (("  call a/B {}\n", 1), ("step a\n  jump\n", 2), ("step a\nstep a\n", 2),
                           ("step a\n  call a/B {\n", 2)):
            with self.assertRaisesRegex(ValueError, f"scenario.txt:{line}:"):
                scenario.parse(text)
        with self.assertRaisesRegex(ValueError, "step a needs"):
            scenario.parse("step a\n  call a/B {}\n  answer@etcd OK *\n")


class Answers(unittest.TestCase):
    def test_clients_words_for_the_same_are_one(self):
        go = {"header": {"cluster_id": "9", "revision": "41"}, "kvs": [{"key": "YQ==", "version": "1"}], "more": False}
        ctl = {"header": {"raft_term": 3, "revision": 41}, "kvs": [{"key": "YQ==", "version": 1}]}
        for each in (go, ctl):
            self.assertEqual(answers.normal(each, 40), {"header": {"revision": "@1"},
                                                        "kvs": [{"key": "a", "version": 1}]})
        self.assertEqual(answers.normal({"Response": {"ResponsePut": {}}}, 0), {"response_put": {}})
        self.assertEqual(answers.normal({"modRevision": "3", "value": "eHh4"}, 40), {"mod_revision": 3, "value": "xxx"})

    def test_codes(self):
        for said in ("InvalidArgument", "INVALID_ARGUMENT"):
            self.assertEqual(answers.code_in_capitals(said), "INVALID_ARGUMENT")
        self.assertEqual(answers.code_in_capitals("Canceled"), "CANCELLED")

    def test_what_fits(self):
        self.assertTrue(answers.fits(("OK", '{"a": 1, "b": 2}'), ("OK", '{"b": 2, "a": 1}')))
        self.assertFalse(answers.fits(("OK", '{"a": 1, "b": 2}'), ("OK", '{"a": 1}')))
        self.assertTrue(answers.fits(("NOT_FOUND", "no [a]?"), ("NOT_FOUND", "no [a]?")))
        self.assertFalse(answers.fits(("NOT_FOUND", "no a"), ("NOT_FOUND", "no ?")))
        self.assertFalse(answers.fits(("ABORTED", "x"), ("NOT_FOUND", "*")))
        self.assertTrue(answers.fits((answers.UNKNOWN_ERROR, "x"), ("NOT_FOUND", "x")))
        self.assertFalse(answers.fits((answers.UNKNOWN_ERROR, "x"), ("OK", "x")))


class Drain(unittest.TestCase):
    def complaints(self, **changed):
        counted = {"completed": 3, "failed": {"Unavailable": 1}, "texts": {}, "revisions": [5, 7, 8], **changed}
        return clients.drain_complaints(json.dumps(counted), 4)

    def test_calls_that_end_as_they_should(self):
        self.assertEqual(self.complaints(), [])

    def test_another_code(self):
        self.assertEqual(len(self.complaints(failed={"Unavailable": 1, "Canceled": 2})), 1)

    def test_a_revision_that_no_call_can_have(self):
        self.assertEqual(len(self.complaints(revisions=[5, 7, 9])), 1)

    def test_a_revision_that_two_calls_have(self):
        self.assertEqual(len(self.complaints(revisions=[5, 5, 6])), 1)

    def test_no_call_that_completed(self):
        self.assertEqual(len(self.complaints(revisions=[])), 1)


if __name__ == "__main__":
    unittest.main()
