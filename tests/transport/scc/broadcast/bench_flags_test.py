#!/usr/bin/env python3
"""The benches of the simulated SCC: their keys, and one sentence and exit code 2 for wrong flags."""
import json
import subprocess
import unittest


def bench(name, *flags):
    return subprocess.run([f"bench/{name}", *flags], capture_output=True, text=True, check=False)


class BenchTest(unittest.TestCase):
    def objects(self, name, *flags):
        done = bench(name, *flags, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refused(self, sentence, name, *flags):
        done = bench(name, *flags)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(sentence, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_broadcast_keys(self):
        rows = self.objects("scc_broadcast", "--algorithm=mpb,oc-bcast", "--bytes=1,100", "--cores=4", "--source=2",
                            "--k=2", "--sources=2")
        self.assertEqual(len(rows), 4)
        self.assertEqual(list(rows[0]), ["algorithm", "bytes", "cores", "source", "k", "sources", "background_us",
                                         "latency_us", "throughput_mb_per_s", "energy_uj"])
        for row in rows:
            self.assertGreater(row["latency_us"], 0)
            self.assertGreater(row["throughput_mb_per_s"], 0)
            self.assertGreater(row["energy_uj"], 0)

    def test_same_flags_same_output(self):
        flags = ("--algorithm=oc-bcast-async", "--bytes=500", "--cores=6", "--jitter-cycles=30", "--seed=9")
        self.assertEqual(self.objects("scc_broadcast", *flags), self.objects("scc_broadcast", *flags))

    def test_other_benches(self):
        for protocol in "nvp", "srbp", "srbp-plain", "rcce", "rckmpi":
            rows = self.objects("scc_round_trip", f"--protocol={protocol}", "--from=3", "--to=44", "--round-trips=5")
            self.assertGreater(rows[0]["cycles"], 0)
            rows = self.objects("scc_collective", f"--protocol={protocol}", "--cores=7", "--repetitions=1")
            self.assertEqual({row["operation"] for row in rows}, {"broadcast", "reduction", "barrier"})
        few, many = self.objects("scc_interrupt", "--targets=1,47")
        self.assertGreater(few["cycles"], 0)
        self.assertLess(many["cycles"], 2 * few["cycles"])

    def test_long_messages_by_srbp_plain(self):
        rows = self.objects("scc_round_trip", "--protocol=srbp-plain", "--bytes=1024", "--to=47", "--round-trips=3")
        self.assertGreater(rows[0]["cycles"], 10_000)

    def test_a_constant_is_changed(self):
        near, far = ([row["cycles"] for row in self.objects("scc_round_trip", "--protocol=nvp,srbp", "--round-trips=9",
                                                            f"--constant=fpga_one_way_ns={ns},l2_core_cycles=9")]
                     for ns in (0, 500))
        self.assertEqual(near[0], far[0])
        self.assertGreater(far[1], near[1] + 900)

    def test_overlap_keys(self):
        ways = ["explicit", "explicit", "thread", "polling-thread", "interrupt"]
        for operation, size in ("broadcast", 4096), ("reduction", 6000), ("allreduce", 8192), ("barrier", 0):
            rows = self.objects("scc_overlap", f"--operation={operation}", f"--bytes={size or 8}", "--cores=7",
                                "--test-every=2000,50000")
            self.assertEqual([row["how"] for row in rows], ways)
            self.assertEqual([row["test_every_cycles"] for row in rows], [2000, 50000, None, None, None])
            for row in rows:
                self.assertEqual(list(row), ["operation", "bytes", "processes", "how", "test_every_cycles",
                                             "completion_us", "cpu_lost_percent", "overlap_percent", "alone_us"])
                self.assertEqual((row["operation"], row["bytes"], row["processes"]), (operation, size, 7))
                self.assertGreater(row["completion_us"], 0)
                self.assertTrue(0 < row["cpu_lost_percent"] < 100)
                self.assertTrue(0 <= row["overlap_percent"] <= 100)
            often, seldom, thread, _, interrupt = rows
            self.assertLess(interrupt["completion_us"], seldom["completion_us"])
            self.assertLess(often["completion_us"], seldom["completion_us"])
            self.assertGreater(often["cpu_lost_percent"], seldom["cpu_lost_percent"])
            if operation == "broadcast":  # on the way up, a later handler may find two children's messages at once
                self.assertLess(interrupt["completion_us"], thread["completion_us"])  # which also switches

    def test_overlap_ends_when_inboxes_are_full_of_acknowledgements(self):
        """An allreduce among 48 cores hung: nobody interrupted a core whose inbox they had filled."""
        rows = self.objects("scc_overlap", "--operation=allreduce", "--bytes=8192", "--cores=48", "--how=interrupt")
        self.assertGreater(rows[0]["completion_us"], rows[0]["alone_us"])

    def test_a_switch_costs_what_the_flag_says(self):
        flags = ("--operation=barrier", "--cores=8", "--how=thread")
        cheap, dear = (self.objects("scc_overlap", *flags, f"--switch-cycles={cycles}")[0] for cycles in (0, 5000))
        self.assertGreater(dear["completion_us"], cheap["completion_us"] + 5000 / 533)

    def test_help(self):
        for name in "scc_broadcast", "scc_collective", "scc_interrupt", "scc_overlap", "scc_round_trip":
            done = bench(name, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for flag in "--clocks", "--constant", "--output":
                self.assertIn(flag, done.stdout)

    def test_round_trips_among_48_take_less_than_2000_cycles(self):
        """SRBP's took 6400 while its receiver read 48 lines with each poll."""
        cycles = {}
        for row in self.objects("scc_round_trip", "--to=1,47", "--round-trips=20"):
            cycles[row["protocol"], row["to"]] = row["cycles"]
        for to in 1, 47:
            self.assertLess(cycles["nvp", to], 2000)
            self.assertLess(cycles["srbp", to], 2000)
            self.assertGreater(cycles["rckmpi", to], 5 * cycles["srbp", to])

    def test_refusals(self):
        self.refused("there is no broadcast \"smoke\"", "scc_broadcast", "--algorithm=smoke")
        self.refused("the number of cores cannot be 1: 2 to 48", "scc_broadcast", "--cores=1")
        self.refused("core 48 cannot be the source", "scc_broadcast", "--source=48")
        self.refused("k cannot be 48", "scc_broadcast", "--k=48")
        self.refused("a message cannot have -1 bytes: 0 to 16777216", "scc_broadcast", "--bytes=-1")
        self.refused("a message cannot have 99999999999 bytes", "scc_broadcast", "--bytes=99999999999")
        self.refused("the number of cores cannot be 49: 2 to 48", "scc_broadcast", "--cores=49")
        self.refused("--seed: '-1' will not do", "scc_broadcast", "--seed=-1")
        self.refused("\"fpga\" changes no constant: give NAME=VALUE", "scc_broadcast", "--constant=fpga")
        self.refused("the chip has no constant \"c\"", "scc_broadcast", "--constant=c=1")
        self.refused("the core clock cannot run at 0 MHz", "scc_broadcast", "--clocks=0/800/800")
        self.refused("is no clock setting", "scc_broadcast", "--clocks=fast")
        self.refused("the number of sources cannot be 49", "scc_broadcast", "--sources=49")
        self.refused("--trace is for one", "scc_broadcast", "--trace=/nowhere/t.json")
        self.refused("there is no protocol \"post\"", "scc_round_trip", "--protocol=post")
        self.refused("are not two of cores 0 to 47", "scc_round_trip", "--from=1", "--to=1")
        self.refused("the number of cores cannot be 100: 2 to 48", "scc_round_trip", "--cores=100")
        self.refused("there is no operation \"gossip\"", "scc_collective", "--operation=gossip")
        self.refused("the number of cores cannot be 49", "scc_collective", "--cores=49")
        self.refused("a core of the tree cannot have 48 children", "scc_overlap", "--children=48")
        self.refused("a payload cannot have 12 bytes: multiples of 8", "scc_overlap", "--bytes=12")
        self.refused("the number of cores cannot be 1: 2 to 48", "scc_overlap", "--cores=1")
        self.refused("there is no way to progress \"hope\"", "scc_overlap", "--how=hope")
        self.refused("there is no operation \"gossip\"", "scc_overlap", "--operation=gossip")
        self.refused("an interrupt cannot go to 48 other cores", "scc_interrupt", "--targets=48")


if __name__ == "__main__":
    unittest.main()
