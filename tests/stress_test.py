"""The table of tests/run.sh --stress, on events as Bazel writes them."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import stress

# Starts a loop, which inherits its standard output, and waits.
PARENT = """import os, subprocess, sys
subprocess.Popen([sys.executable, '-c', sys.argv[1], str(os.getpid())])
print('started', flush=True)
sys.stdin.read()"""
BAD, GOOD = "//tests/services/etcd:random_test", "//tests/daemon:stop_test"


def event(label, run, status, log):
    return json.dumps({
        "id": {"testResult": {"label": label, "run": run, "shard": 1, "attempt": 1, "configuration": {"id": "c"}}},
        "testResult": {"status": status, "testAttemptDurationMillis": "2500", "cachedLocally": False,
                       "testActionOutput": [{"name": "test.log", "uri": f"file://{log}"},
                                            {"name": "test.xml", "uri": "file:///elsewhere/test.xml"}]}})


class Stress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def log(self, text):
        path = os.path.join(self.folder, "test.log")
        with open(path, "w") as file:
            file.write(text)
        return path

    def shown(self, tests, halves):
        lines = []
        return stress.show(tests, halves, lines.append), "".join(lines)

    def test_every_run_counts_once_and_what_is_no_result_does_not(self):
        other = json.dumps({"id": {"testSummary": {"label": BAD}}, "testSummary": {"overallStatus": "FLAKY"}})
        cut = '{"id": {"te'
        events = "\n".join([event(BAD, 1, "PASSED", "/l/1"), other, event(BAD, 2, "TIMEOUT", "/l/a%20b"), cut])
        self.assertEqual(list(stress.runs_in(events, "alone")), [stress.Run(BAD, "alone", 1, "PASSED", 2.5, "/l/1"),
                                                                 stress.Run(BAD, "alone", 2, "TIMEOUT", 2.5, "/l/a b")])

    def test_the_table_has_the_greatest_rate_first_and_names_seeds_and_logs_of_failures(self):
        log = self.log("seed 17; again: bazel test X\n")
        runs = list(stress.runs_in("\n".join([event(GOOD, 1, "PASSED", ""), event(BAD, 1, "FAILED", log)]), "alone"))
        runs = stress.keep_logs(runs, os.path.join(self.folder, "kept"))
        self.log("written over by the next half")
        loaded = list(stress.runs_in("\n".join([event(GOOD, 1, "PASSED", ""), event(BAD, 1, "PASSED", "")]), "loaded"))
        passed, text = self.shown([GOOD, BAD], [("alone", 1, runs), ("loaded", 1, loaded)])
        self.assertFalse(passed)
        kept = os.path.join(self.folder, "kept", "tests.services.etcd.random_test.alone.1.log")
        self.assertEqual(text.splitlines()[3:], [
            f"  50.0 %        1 of 1        0 of 1       2.5 s  {BAD}",
            f"          alone, run 1: failed, seed 17, {kept}",
            f"   0.0 %        0 of 1        0 of 1       2.5 s  {GOOD}",
            "",
            "2 tests, 4 runs; failed: 1 tests, 1 runs"])

    def test_what_did_not_run_as_often_as_asked_has_not_passed(self):
        runs = list(stress.runs_in(event(GOOD, 1, "PASSED", ""), "loaded"))
        self.assertTrue(self.shown([GOOD], [("alone", 0, []), ("loaded", 1, runs)])[0])
        for halves in ([("alone", 0, []), ("loaded", 2, runs)], [("alone", 0, []), ("loaded", 1, [])]):
            passed, text = self.shown([GOOD], halves)
            self.assertFalse(passed)
            self.assertIn(f"times: {GOOD}", text)

    def test_flags_are_read_and_refused_in_one_sentence(self):
        self.assertEqual(stress.parse(["--stress=20"]), (20, None, []))
        self.assertEqual(stress.parse(["--only=//a:b,//c/...", "--stress=3", "--", "--config=asan"]),
                         (3, ["//a:b", "//c/..."], ["--config=asan"]))
        for wrong in (["--stress=0"], ["--stress=-1"], ["--stress=x"], ["--stress="], ["--quick", "--stress=1"],
                      ["--only=", "--stress=1"], ["--only=//a:b"], []):
            error = io.StringIO()
            with self.subTest(wrong), contextlib.redirect_stderr(error), self.assertRaises(SystemExit) as ended:
                stress.parse(wrong)
            self.assertEqual((ended.exception.code, error.getvalue().count("\n")), (2, 1))

    def test_the_busy_loops_end_with_the_block_and_with_a_parent_that_is_killed(self):
        with stress.busy_cores(1):
            pass  # kill() and wait() would raise
        parent = subprocess.Popen([sys.executable, "-c", PARENT, stress.BUSY], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        parent.stdout.readline()  # the loop is there
        parent.kill()
        parent.communicate()  # returns when the loop, too, has closed the pipe


if __name__ == "__main__":
    unittest.main()
