"""The figures of bench/against_etcd: what the tool prints, spreads, ratios, and the objects of -o json."""

import unittest

from bench.against.figures import (Point, Spread, ToolError, comparison, in_turn, rate_of, ratio_of, requests_for,
                                   spread_of)

# What the tool prints when its output is no terminal: the progress bar ends with a carriage return.
PRINTED = """bench with linearizable range
 0 / 400    0.00%%\r 400 / 400  100.00%% 0s

Summary:
  Total:\t0.127 secs.
  Slowest:\t0.004 secs.
  Fastest:\t0.0001 secs.
  Average:\t0.0003 secs.
  Stddev:\t0.0002 secs.
  Requests/sec:\t%s

Response time histogram:
  0.0001 [1]\t|
  0.0005 [399]\t|∎∎∎

Latency distribution:
  50%% in 0.0003 secs.
"""
FAILED = """
Error distribution:
  [3]\tetcdserver: request timed out
"""


class AgainstEtcd(unittest.TestCase):
    def test_the_rate_is_read_from_what_the_tool_prints(self):
        self.assertEqual(rate_of(PRINTED % "3149.6062992"), 3149.6062992)
        self.assertEqual(rate_of(PRINTED % "1.5e+06"), 1.5e6)

    def test_a_run_with_failed_requests_is_no_figure(self):
        with self.assertRaisesRegex(ToolError, "at least 3 requests failed: etcdserver: request timed out"):
            rate_of(PRINTED % "3149.6" + FAILED)

    def test_a_run_without_a_rate_is_no_figure(self):
        for printed in ("", FAILED.replace("Error", "Other"), PRINTED % "+Inf", PRINTED % "NaN", PRINTED % "0",
                        PRINTED % "fast"):
            with self.assertRaises(ToolError):
                rate_of(printed)

    def test_a_spread_is_the_median_with_the_least_and_most(self):
        self.assertEqual(spread_of([5, 1, 2]), Spread(2, 1, 5))
        self.assertEqual(spread_of([4, 1, 2, 3]), Spread(2.5, 1, 4))
        self.assertEqual(spread_of([7]), Spread(7, 7, 7))

    def test_ratios_are_of_rates_of_the_same_round(self):
        self.assertEqual(ratio_of([10, 20, 90], [10, 10, 30]), Spread(2, 1, 3))
        with self.assertRaises(ValueError):
            ratio_of([1, 2], [1])

    def test_each_server_comes_first_in_its_turn(self):
        self.assertEqual([in_turn(["a", "b", "c"], number) for number in range(4)],
                         [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]])

    def test_requests_take_as_long_as_asked_and_each_client_has_one(self):
        self.assertEqual(requests_for(2, 3000.4, 32), 6001)
        self.assertEqual(requests_for(0.01, 100, 32), 32)

    def test_an_object_of_the_output(self):
        rates = {"ingotd": [300, 100, 200], "etcd disk": [100, 100, 100], "etcd tmpfs": [1, 1, 1],
                 "empty": [400, 400, 400]}
        found = comparison(Point("put", 32), rates, "disk", {"replicas": 3})
        self.assertEqual(list(found)[:6], ["operation", "clients", "ingot_per_s", "etcd_per_s", "ratio", "etcd_data"])
        self.assertEqual(found, {
            "operation": "put", "clients": 32, "etcd_data": "disk", "rounds": 3, "replicas": 3,
            "ingot_per_s": 200, "ingot_per_s_min": 100, "ingot_per_s_max": 300,
            "etcd_per_s": 100, "etcd_per_s_min": 100, "etcd_per_s_max": 100,
            "ratio": 2, "ratio_min": 1, "ratio_max": 3,
            "empty_per_s": 400, "empty_per_s_min": 400, "empty_per_s_max": 400,
            "ratio_to_empty": 0.5, "ratio_to_empty_min": 0.25, "ratio_to_empty_max": 0.75})

    def test_without_an_empty_server_nothing_is_said_of_it(self):
        found = comparison(Point("range", 1), {"ingotd": [2.0], "etcd tmpfs": [1.0]}, "tmpfs", {})
        self.assertEqual([name for name in found if "empty" in name], [])
        self.assertEqual((found["ratio"], found["etcd_data"]), (2, "tmpfs"))


if __name__ == "__main__":
    unittest.main()
