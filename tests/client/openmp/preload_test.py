"""GNU OpenMP with its barrier replaced: the same results as without, for every construct and team size."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = "tests/client/openmp/constructs"
LIBRARY = os.path.abspath("client/openmp/libingot_openmp.so")
ROUNDS = 400 if os.environ.get("INGOT_LONG_TESTS") else 20


def run(threads, preload, rounds=ROUNDS, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "INGOT_OPENMP_"))}
    # Waits that are left to libgomp, above all at region ends, would spin for milliseconds on cores that other tests
    # need.
    environment["GOMP_SPINCOUNT"] = "1000"
    environment.update(variables)
    if preload:
        environment["LD_PRELOAD"] = LIBRARY
        environment["INGOT_OPENMP_REPORT"] = "1"
    return subprocess.run([PROGRAM, str(threads), str(rounds)], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def report(stderr):
    match = re.search(r"ingot openmp: (\d+) regions, (\d+) tree barriers, (\d+) of libgomp's, (\d+) trees planned", stderr)
    assert match, f"no report in: {stderr!r}"
    return dict(zip(("regions", "tree", "libgomp", "planned"), map(int, match.groups())))


def machine_file(folder, cores):
    path = os.path.join(folder, "machine.json")
    matrix = [[0 if i == j else 50 + 7 * i + j for j in cores] for i in cores]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "made up", "unit": "cycles", "cores": [{"id": i} for i in cores], "send": matrix,
                   "receive": matrix}, file)
    return path


class Preloaded(unittest.TestCase):
    def same_as_without(self, threads, rounds=ROUNDS, **variables):
        with self.subTest(threads=threads, variables=variables):
            without, having = run(threads, False, rounds, **variables), run(threads, True, rounds, **variables)
            self.assertEqual((without.returncode, having.returncode), (0, 0), without.stderr + having.stderr)
            self.assertEqual(without.stdout, having.stdout)
            self.assertIn("explicit again", having.stdout)
            return report(having.stderr), having.stderr

    def test_same_results_for_all_team_sizes(self):
        for threads in (1, 2, 3, 4, 7, 16):
            counts, _ = self.same_as_without(threads)
            self.assertGreater(counts["tree"], ROUNDS, "the tree barrier was not used")
            if threads > 1:
                self.assertGreaterEqual(counts["libgomp"], 2 * ROUNDS, "barriers with tasks are libgomp's")
                # explicit barriers twice, seven a round of loops, six of singles and sections, three of the tasks'
                self.assertGreaterEqual(counts["tree"], 18 * ROUNDS)

    def test_same_results_under_every_way_to_wait(self):
        self.same_as_without(2, OMP_WAIT_POLICY="passive")
        self.same_as_without(5, rounds=5, INGOT_OPENMP_CORES="own")
        active = run(2, True, rounds=3, OMP_WAIT_POLICY="active")
        self.assertEqual(active.returncode, 0, active.stderr)
        self.same_as_without(2, OMP_PROC_BIND="close", OMP_PLACES="cores")
        self.same_as_without(4, OMP_PROC_BIND="spread", OMP_PLACES="threads")
        self.same_as_without(4, OMP_SCHEDULE="guided,2")

    def test_same_results_with_cancellation(self):
        for threads in (1, 2, 4):
            self.same_as_without(threads, OMP_CANCELLATION="true")

    def test_same_results_without_nested_teams(self):
        self.same_as_without(4, OMP_MAX_ACTIVE_LEVELS="1", OMP_THREAD_LIMIT="3")

    def test_a_tree_is_planned_for_a_team_that_meets_often(self):
        counts, _ = self.same_as_without(4, rounds=15, INGOT_OPENMP_CORES="own")
        self.assertGreater(counts["planned"], 0)
        with tempfile.TemporaryDirectory() as folder:
            path = machine_file(folder, range(os.cpu_count()))
            counts, _ = self.same_as_without(4, rounds=15, INGOT_OPENMP_CORES="own", INGOT_OPENMP_MACHINE=path)
            self.assertGreater(counts["planned"], 0)

    def test_a_machine_file_without_these_cores_is_reported_once_a_team(self):
        with tempfile.TemporaryDirectory() as folder:
            path = machine_file(folder, (60000, 60001))
            counts, stderr = self.same_as_without(4, rounds=15, INGOT_OPENMP_CORES="own", INGOT_OPENMP_MACHINE=path)
            self.assertEqual(counts["planned"], 0)
            self.assertIn('the machine file "made up" has no core', stderr)

    def test_a_bad_machine_file_leaves_libgomp_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"cores": 3}')
            for name, why in ((path, "is no machine file"), (os.path.join(folder, "none"), "cannot be read")):
                having = run(2, True, INGOT_OPENMP_MACHINE=name)
                self.assertEqual(having.returncode, 0, having.stderr)
                self.assertEqual(having.stdout, run(2, False).stdout)
                lines = having.stderr.splitlines()
                self.assertEqual(len(lines), 1, having.stderr)
                self.assertIn(why, lines[0])
                self.assertIn("libgomp's barriers are used", lines[0])

    def test_wide_teams_use_libgomps_barrier(self):
        having = run(300, True, rounds=1)
        self.assertEqual(having.returncode, 0, having.stderr)
        self.assertIn("a team of 300 threads is wider than 256", having.stderr)

    def test_bad_values_are_reported(self):
        having = run(2, True, rounds=2, INGOT_OPENMP_CORES="some")
        self.assertEqual(having.returncode, 0)
        self.assertIn("INGOT_OPENMP_CORES is own or shared, not some", having.stderr)

    def test_a_program_without_openmp_is_unaffected(self):
        environment = dict(os.environ, LD_PRELOAD=LIBRARY, INGOT_OPENMP_REPORT="1", INGOT_OPENMP_MACHINE="/none")
        done = subprocess.run([sys.executable, "-c", "print(6 * 7)"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "42\n", ""))


if __name__ == "__main__":
    unittest.main()
