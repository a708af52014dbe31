"""The summary of tests/run.sh, on Bazel's output and tests' logs as they are."""

import json
import os
import tempfile
import unittest

from summary import add, bazel_results, main, script_results, show

OUTPUT = """INFO: Elapsed time: 183.829s, Critical Path: 102.72s
//tests:docs_test                                                        PASSED in 1.0s
//tests/transport/host:fabric_test                              (cached) PASSED in 0.0s
//tests/chaos:checker_test                                               PASSED in 0.2s
//tests/daemon:restart_test                                               FLAKY, failed in 1 out of 2 in 9.1s
//tests/replication/replica:core_test                                    FAILED in 4.2s
  /root/testlogs/tests/replication/replica/core_test/test.log
//tests/daemon:flood_test                                               TIMEOUT in 3600.0s
//tests/daemon:trees_test                                             NO STATUS
Executed 5 out of 7 tests: 3 tests pass and 4 fail locally.
"""


class Summary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def by_name(self, results):
        return {each["name"]: (each["result"], each["reasons"]) for each in results}

    def test_each_target_counts_once_and_a_second_try_is_a_failure(self):
        self.assertEqual(self.by_name(bazel_results(3, OUTPUT, self.folder.name)), {
            "//tests:docs_test": ("passed", []),
            "//tests/transport/host:fabric_test": ("passed", []),
            "//tests/chaos:checker_test": ("passed", []),
            "//tests/daemon:restart_test": ("failed", ["flaky"]),
            "//tests/replication/replica:core_test": ("failed", ["failed"]),
            "//tests/daemon:flood_test": ("failed", ["timeout"]),
            "//tests/daemon:trees_test": ("failed", ["no status"])})

    def test_a_test_that_leaves_something_out_is_skipped_and_not_passed(self):
        self.file("tests/chaos/checker_test/test.log",
                  "test_a (__main__.C.test_a) ... skipped 'there is no Go here'\ntest_b (__main__.C.test_b) ... ok\n")
        self.file("tests/docs_test/test.log", "SKIPPED: the documents are elsewhere\nOK\n")
        self.file("tests/transport/host/fabric_test/test.log",
                  "seed 17; again: bazel test X\ntest_a (T) ... seed 18; again: X\nRETRIED: port 2379 was taken\n")
        results = bazel_results(3, OUTPUT, self.folder.name)
        found = self.by_name(results)
        self.assertEqual(found["//tests/chaos:checker_test"], ("skipped", ["there is no Go here"]))
        self.assertEqual(found["//tests:docs_test"], ("skipped", ["the documents are elsewhere"]))
        self.assertEqual([each["retried"] for each in results if each["retried"]], [["port 2379 was taken"]])
        self.assertEqual([each["seeds"] for each in results if each["seeds"]], [["17", "18"]])

    def test_a_build_that_breaks_is_a_failure_though_no_test_is_named(self):
        self.assertEqual(self.by_name(bazel_results(1, "ERROR: no such target", self.folder.name)),
                         {"bazel": ("failed", ["exit code 1"])})
        self.assertEqual(bazel_results(0, "", self.folder.name), [])

    def test_a_script_is_passed_failed_or_skipped_by_its_exit_code(self):
        for code, text, expected in [(0, "", ("passed", [])), (1, "", ("failed", ["exit code 1"])),
                                     (77, "tests/model: SKIPPED: no Java\n", ("skipped", ["no Java"])),
                                     (0, "SKIPPED: half of it\n", ("skipped", ["half of it"]))]:
            self.assertEqual(self.by_name(script_results("model", code, text)), {"model": expected})

    def test_the_last_line_counts_and_the_exit_code_is_that_of_failures(self):
        results = os.path.join(self.folder.name, "results")
        output = self.file("output", OUTPUT)
        self.file("tests/docs_test/test.log", "SKIPPED: the documents are elsewhere\n")
        add(results, "bazel", "optimised", "754", "3", output, self.folder.name)
        add(results, "script", "model", "61", "77", self.file("model", "SKIPPED: no Java\n"))
        text = []
        self.assertEqual(show([], text.append), 1)  # nothing ran
        self.assertEqual(main(["show", results]), 1)
        text.clear()
        with open(results) as file:
            show([json.loads(line) for line in file], text.append)
        shown = "".join(text)
        self.assertTrue(shown.endswith("\n2 passed, 4 failed, 2 skipped\n"), shown)
        for line in ("   12 min 34 s  optimised", "optimised: //tests:docs_test: the documents are elsewhere",
                     "model: model: no Java", "optimised: //tests/daemon:flood_test: timeout"):
            self.assertIn(f"  {line.strip()}\n", shown)

    def test_all_passed_is_success_and_skips_do_not_fail(self):
        passed = [{"name": "//a:b", "result": "passed", "reasons": [], "retried": []}]
        skipped = [{"name": "//a:c", "result": "skipped", "reasons": ["why"], "retried": []}]
        text = []
        self.assertEqual(show([{"part": "p", "seconds": 1, "results": passed + skipped}], text.append), 0)
        self.assertTrue("".join(text).endswith("\n1 passed, 0 failed, 1 skipped\n"))


if __name__ == "__main__":
    unittest.main()
