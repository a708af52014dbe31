#!/usr/bin/env python3
"""bench/scc_app: its keys, and one sentence and exit code 2 for wrong flags."""
import json
import subprocess
import unittest


def bench(*flags):
    return subprocess.run(["bench/scc_app", *flags], capture_output=True, text=True, check=False)


class BenchTest(unittest.TestCase):
    def test_keys(self):
        done = bench("--size=20", "--cores=3", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(rows), 12)  # three applications, one of them in two variants, with three carriers each
        self.assertEqual(list(rows[0]), ["app", "broadcast", "size", "cores", "cycles_per_operation", "compute_s",
                                         "communicate_s"])
        for row in rows:
            self.assertGreater(row["compute_s"], 0)
            self.assertGreater(row["communicate_s"], 0)
        self.assertEqual({row.get("variant") for row in rows}, {None, "root", "spread"})

    def test_refusals(self):
        for sentence, flag in (("there is no application \"chess\"", "--app=chess"),
                               ("there is no broadcast \"smoke\"", "--broadcast=smoke"),
                               ("there is no variant \"root\" of matmul", "--variant=root"),
                               ("the size cannot be 2001: 1 to 2000", "--size=2001"),
                               ("--size", "--size=-1"),
                               ("the number of cores cannot be 49", "--cores=49"),
                               ("the number of steps cannot be 0", "--steps=0"),
                               ("--cycles-per-operation", "--cycles-per-operation=-1"),
                               ("the core clock cannot run at 0 MHz", "--clocks=0/800/800")):
            done = bench(flag)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertIn(sentence, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
