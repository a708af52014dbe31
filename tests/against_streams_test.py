"""The rows of bench/lease and bench/watch: which figures count, medians, ratios, and the memory of a server's processes."""

import os
import subprocess
import sys
import types
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), "bench"))

from bench.against.streams import Measurement, family, memory_bytes, rows_of  # noqa: E402

FLAGS = types.SimpleNamespace(data=["disk"], rounds=3, replicas=3)


class AgainstStreams(unittest.TestCase):
    def test_a_row_has_the_medians_and_the_ratio_round_by_round(self):
        measurement = Measurement("busy", ["watch"], {"rate": ["EventsPerS"], "median us": ["Latency", "P50"]})
        made = lambda rate, median: {"EventsPerS": rate, "Latency": {"P50": median, "P99": 1000}}  # noqa: E731
        rounds = {"ingotd": [made(10, 1), made(30, 2), made(20, 3)],
                  "etcd disk": [made(5, 4), made(10, 4), made(20, 4)]}
        rate, median = rows_of(measurement, rounds, FLAGS)
        self.assertEqual(rate, {
            "measurement": "busy", "figure": "rate", "etcd_data": "disk", "ingot": 20, "ingot_min": 10,
            "ingot_max": 30, "etcd": 10, "etcd_min": 5, "etcd_max": 20, "ratio": 2, "ratio_min": 1, "ratio_max": 3,
            "rounds": 3, "replicas": 3})
        self.assertEqual((median["figure"], median["ingot"], median["ratio"]), ("median us", 2, 0.5))

    def test_there_is_no_ratio_to_nothing(self):
        measurement = Measurement("held", ["hold"], {"lost": ["Lost"]})
        row, = rows_of(measurement, {"ingotd": [{"Lost": 0}], "etcd disk": [{"Lost": 0}]}, FLAGS)
        self.assertNotIn("ratio", row)

    def test_the_memory_of_a_server_is_that_of_all_its_processes(self):
        shell = subprocess.Popen(["sh", "-c", "sleep 600 & echo up; wait"], stdout=subprocess.PIPE, text=True,
                                 start_new_session=True)
        try:
            self.assertEqual(shell.stdout.readline(), "up\n")
            found = family(shell)
            self.assertEqual(len(found), 2)
            self.assertIn(shell.pid, found)
            self.assertGreater(memory_bytes(shell), 0)
        finally:
            os.killpg(shell.pid, 9)
            shell.wait()
            shell.stdout.close()


if __name__ == "__main__":
    unittest.main()
