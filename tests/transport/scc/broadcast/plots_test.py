#!/usr/bin/env python3
"""bench/scc_plots.py from the benches to the page, with few and small points."""
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree


class PlotsTest(unittest.TestCase):
    def test_quick_page(self):
        svg = os.path.join(os.environ["TEST_TMPDIR"], "plots.svg")
        done = subprocess.run([sys.executable, "bench/scc_plots.py", svg, "--quick", "--bin=bench", "--tables"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = "".join(xml.etree.ElementTree.parse(svg).getroot().itertext())
        for part in ("Latency by size", "Throughput by size", "Latency by cores", "Interrupt", "Applications",
                     "oc-bcast-async"):
            self.assertIn(part, page)
        self.assertIn("| `ingot` |", done.stdout)

    def test_a_bench_that_is_not_built_is_named(self):
        done = subprocess.run([sys.executable, "bench/scc_plots.py", "x.svg", "--quick", "--bin=nowhere"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no nowhere/scc_app: build //bench:scc_app", done.stderr)
        self.assertFalse(os.path.exists("x.svg"))


if __name__ == "__main__":
    unittest.main()
