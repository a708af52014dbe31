"""A real ingotd on the simulated chip: the etcd API, status, metrics in virtual time, heat maps, drills on cores, and
recordings that replay bit for bit."""

import json
import os
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.request
import xml.etree.ElementTree

from tests.daemon.ingot_daemon import INGOTD, WATCHDOG_S, Daemon, ctl, run_ctl, wait_until


def run_ingotd(*flags, backend="scc"):
    """(exit code, standard output, standard error) of an ingotd that ends by itself."""
    done = subprocess.run(
        [INGOTD, f"--backend={backend}", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
    return done.returncode, done.stdout, done.stderr


def metrics_of(daemon):
    """Values by name with labels."""
    text = urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=WATCHDOG_S).read().decode()
    return {name: float(value) for name, value in re.findall(r"^(ingot_\S+) (\S+)$", text, re.M)}


def heat(daemon):
    return json.loads(ctl(daemon.endpoint, "scc", "heatmap", "-o", "json"))


def leader_of(daemon):
    """The running leader; waits until there is exactly one."""
    found = []

    def one_leads():
        found[:] = [r["id"] for r in daemon.status()["replicas"] if r["role"] == "leader" and r["state"] == "up"]
        return len(found) == 1

    wait_until(one_leads, "one replica that is up leads")
    return found[0]


class OnChip(unittest.TestCase):
    def drill(self, daemon, action, replica):
        return json.loads(ctl(daemon.endpoint, "drill", action, f"replica={replica}", "-o", "json"))["hits"][0]

    def equal_digests(self, daemon):
        def living():
            return [r for r in daemon.status("--digest")["replicas"] if r["state"] == "up"]

        wait_until(lambda: len({(r["applied"], r["digest"]) for r in living()}) == 1, "all who live are alike")

    def test_the_api_the_status_and_the_counters(self):
        with Daemon("--backend=scc", "--scc-cores=0,12,24,47", "--scc-gateway=5", "--scc-clocks=400/800/800") as daemon:
            ctl(daemon.endpoint, "put", "greeting", "hello")
            self.assertIn("hello", ctl(daemon.endpoint, "get", "greeting"))
            self.assertIn("hello", ctl(daemon.endpoint, "get", "greeting", "--serializable"))
            status = daemon.status()
            self.assertEqual((status["backend"], [r["core"] for r in status["replicas"]]), ("scc", [0, 12, 24, 47]))
            self.assertEqual([r["state"] for r in status["replicas"]], ["up"] * 4)
            self.equal_digests(daemon)

            metrics = metrics_of(daemon)
            virtual_s = metrics["ingot_scc_virtual_seconds_total"]
            self.assertGreater(virtual_s, 0)
            self.assertAlmostEqual(metrics["ingot_scc_core_cycles_total"] / (virtual_s * 400e6), 1, places=3)
            commands = metrics['ingot_scc_request_duration_seconds_count{kind="command"}']
            self.assertEqual(commands, 1)
            self.assertAlmostEqual(metrics['ingot_scc_request_core_cycles_sum{kind="command"}'],
                                   400e6 * metrics['ingot_scc_request_duration_seconds_sum{kind="command"}'], delta=1)
            self.assertEqual(metrics['ingot_replica_core{replica="3"}'], 47)
            self.assertGreater(metrics['ingot_scc_mpb_lines_total{tile="6"}'], 0)

            chip = heat(daemon)
            self.assertEqual({core["core"]: core["runs"] for core in chip["cores"] if core["runs"]},
                             {0: "replica 0", 12: "replica 1", 24: "replica 2", 47: "replica 3", 5: "gateway"})
            # Ports of unused cores have no load, and packets go between neighbours only.
            self.assertEqual({port["tile"] for port in chip["mpb_ports"] if port["lines"] > 0}, {0, 2, 6, 12, 23})
            self.assertTrue(chip["links"])
            for link in chip["links"]:
                self.assertIn(abs(link["from_tile"] - link["to_tile"]), (1, 6))
            self.assertEqual(chip["clocks"], "400/800/800")

            picture = xml.etree.ElementTree.fromstring(ctl(daemon.endpoint, "scc", "heatmap"))
            texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
            self.assertIn("47: replica 3", texts)
            self.assertIn("gateway", ctl(daemon.endpoint, "scc", "heatmap", "-o", "table"))
            self.assertEqual(daemon.stop(), 0)

    def test_writes_go_on_when_the_leaders_core_dies_under_load(self):
        with Daemon("--backend=scc", "--replicas=5") as daemon:
            outcome = []
            load = threading.Thread(target=lambda: outcome.append(
                daemon.load("--duration=2s", "--clients=8", "--keys=100", "--read-share=0.3")))
            load.start()
            wait_until(lambda: daemon.status()["replicas"][0]["applied"] > 0, "the load is under way")
            leader = leader_of(daemon)
            self.assertEqual(self.drill(daemon, "kill", leader)["id"], leader)
            load.join(WATCHDOG_S)
            code, report = outcome[0]
            self.assertEqual((code, report["check"], report["stale_reads"]), (0, "held", 0), report)
            self.assertNotEqual(leader_of(daemon), leader)
            self.assertEqual(daemon.status()["replicas"][leader]["state"], "dead")
            self.equal_digests(daemon)
            for target, why in ((f"replica={leader}", f"replica {leader} is dead"), ("front-end", "hit cores")):
                refused = run_ctl(daemon.endpoint, "drill", "cont", target)
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.stderr, rf"\Aingotctl: [^\n]*{why}[^\n]*\n\Z")
            print(f"{report['acknowledged']} acknowledged; virtual time {heat(daemon)['virtual_ns'] * 1e-9:.3f} s")

    def test_a_stopped_core_catches_up(self):
        with Daemon("--backend=scc", "--agreement=multipaxos", "--transport=srbp") as daemon:
            ctl(daemon.endpoint, "put", "a", "1")
            leader = leader_of(daemon)
            told = json.loads(ctl(daemon.endpoint, "drill", "stop", "leader", "--wait", "-o", "json").splitlines()[-1])
            self.assertGreater(told["outage"]["writes"], 0)
            self.assertEqual(daemon.status()["replicas"][leader]["state"], "stopped")
            ctl(daemon.endpoint, "put", "a", "2")
            self.assertNotEqual(leader_of(daemon), leader)
            self.drill(daemon, "cont", leader)
            ctl(daemon.endpoint, "put", "a", "3")
            self.equal_digests(daemon)

    def test_when_all_are_dead_the_daemon_ends(self):
        with Daemon("--backend=scc") as daemon:
            for replica in range(3):
                self.drill(daemon, "kill", replica)
            self.assertEqual(daemon.process.wait(WATCHDOG_S), 1)
            daemon.reader.join(WATCHDOG_S)
            self.assertTrue(any("the last replica is gone" in line for line in daemon.log), daemon.log)

    def test_a_recording_replays_bit_for_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.rec")
            with Daemon("--backend=scc", f"--scc-record={path}", "--scc-seed=5") as daemon:
                daemon.load("--count=300", "--clients=4", "--keys=20")
                self.drill(daemon, "stop", 2)
                self.drill(daemon, "kill", leader_of(daemon))
                self.drill(daemon, "cont", 2)
                ctl(daemon.endpoint, "put", "after", "all")
                self.assertEqual(daemon.stop(), 0)
            with open(path) as file:
                lines = file.read().splitlines(keepends=True)
            end = json.loads(lines[-1].rsplit(" ", 1)[0])["end"]
            code, output, error = run_ingotd(f"--scc-replay={path}")
            self.assertEqual(code, 0, error)
            self.assertEqual(json.loads(output), end)
            self.assertIn("bit for bit", error)
            print(f"{len(lines) - 2} inputs, {end['accesses']} accesses, {end['core_cycles']} cycles")

            # As after a crash: no end, and half a line.
            self.write(path, "".join(lines[:50]) + lines[50][:20])
            code, output, error = run_ingotd(f"--scc-replay={path}")
            self.assertEqual((code, "no end" in error), (0, True), error)
            self.assertLess(json.loads(output)["rounds"], end["rounds"])
            for damaged in (lines[:40] + lines[41:], lines[:40] + [lines[40].replace('"id":', '"id":1')] + lines[41:],
                            ["hello\n"], []):
                self.write(path, "".join(damaged))
                self.refused(f"--scc-replay={path}")

    def write(self, path, text):
        with open(path, "w") as file:
            file.write(text)

    def refused(self, *flags, backend="scc"):
        """Fails with exit code 2 and one sentence."""
        code, output, error = run_ingotd(*flags, backend=backend)
        self.assertEqual((code, output), (2, ""), (flags, error))
        self.assertRegex(error, r"\Aingotd: [^\n]+\n\Z", flags)
        return error

    def test_impossible_flags_give_one_sentence(self):
        for flags, word in (
            (["--scc-cores=0,48,1"], "core 48"),
            (["--scc-cores=0,-1,1"], "core -1"),
            (["--scc-cores=0,12,12"], "core 12"),
            (["--scc-cores=0,12,24", "--scc-gateway=24"], "core 24"),
            (["--scc-gateway=99"], "99"),
            (["--scc-cores=0,12", "--replicas=3"], "3 replicas"),
            (["--scc-cores=0,x"], "x"),
            (["--replicas=48"], "47"),
            (["--scc-clocks=1/800/800"], "1"),
            (["--scc-clocks=fast"], "fast"),
            (["--scc-cycles-per-message=-1"], "-1"),
            (["--scc-cost-model=free"], "free"),
            (["--isolation=thread"], "--isolation"),
            (["--scc-record=/nowhere/at/all"], "/nowhere/at/all"),
            (["--scc-replay=/nowhere/at/all"], "/nowhere/at/all"),
            (["--scc-replay=a", "--scc-record=b"], "--scc-re"),
        ):
            self.assertIn(word, self.refused(*flags))
        self.assertIn("--backend=scc", self.refused("--scc-seed=3", backend="shm"))

    def test_a_daemon_on_this_machine_has_no_chip(self):
        with Daemon() as daemon:
            done = run_ctl(daemon.endpoint, "scc", "heatmap")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"\Aingotctl: [^\n]*does not run on the simulated chip[^\n]*\n\Z")
        done = run_ctl("127.0.0.1:1", "scc", "heatmap", "-o", "xml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
