"""A front end with several loops: all of them serve, each with its own way to the replicas, and they come and go as one."""

import os
import re
import signal
import unittest
import urllib.request

from ingot_daemon import WATCHDOG_S, Daemon, Load, ctl, run_ctl, wait_until

LOOPS = 3
FLAGS = (f"--front-end-loops={LOOPS}", "--orphan-grace=200s")


def front_end(daemon):
    return daemon.children().get("@front-end", [None])[0]


def metric(daemon, name, **labels):
    """The value of a metric, summed over the labels that are not given."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        page = answer.read().decode()
    total = None
    for line in page.splitlines():
        found = re.fullmatch(name + r"(?:\{(.*)\})? (\S+)", line)
        if not found:
            continue
        shown = dict(re.findall(r'(\w+)="([^"]*)"', found[1] or ""))
        if all(shown.get(label) == value for label, value in labels.items()):
            total = (total or 0) + float(found[2])
    return total


class Loops(unittest.TestCase):
    def test_every_loop_serves_and_is_counted(self):
        with Daemon(*FLAGS) as daemon:
            # The self-check calls each loop, whichever loops the kernel gives the clients to.
            for loop in range(LOOPS):
                begun = lambda: metric(daemon, "ingot_door_calls_begun_total", loop=str(loop))
                wait_until(lambda: begun() > 0, f"loop {loop} has served a call")
            self.assertIsNone(metric(daemon, "ingot_door_connections", loop=str(LOOPS)))
            ended = lambda: metric(daemon, "ingot_door_calls_ended_total", how="finished")
            before = ended()
            for i in range(20):
                ctl(daemon.endpoint, "put", f"key/{i}", str(i))
                self.assertIn(str(i), ctl(daemon.endpoint, "get", f"key/{i}"))
            self.assertGreaterEqual(ended() - before, 40)
            daemon.equal_digests()

    def test_deaths_of_replicas_and_of_the_front_end_are_noticed_by_each_loop(self):
        with Daemon(*FLAGS) as daemon:
            load = Load(daemon, "--duration=6s")
            load.wait_until_under_way()
            for target in ("leader", "acceptor", "replica=2"):
                ctl(daemon.endpoint, "drill", "kill", target)
                wait_until(lambda: all(each["state"] == "up" for each in daemon.status()["replicas"]),
                           "all replicas are up again")
            load.require_held()
            victim = front_end(daemon)
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: front_end(daemon) not in (None, victim), "there is another front end")
            wait_until(lambda: run_ctl(daemon.endpoint, "status").returncode == 0, "it serves")
            for i in range(20):  # by new connections, so by several loops
                ctl(daemon.endpoint, "put", f"after/{i}", str(i))
            daemon.equal_digests()

    def test_a_new_supervisor_takes_all_loops_over(self):
        name = f"loops-{os.getpid()}"
        flags = (*FLAGS, f"--name={name}")
        with Daemon(*flags) as first:
            ctl(first.endpoint, "put", "before", "1")
            pid = front_end(first)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            with Daemon("--front-end-loops=0", "--orphan-grace=200s", f"--name={name}") as second:
                self.assertEqual(front_end(second), pid)
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda: front_end(second) not in (None, pid), "there is another front end")
                wait_until(lambda: run_ctl(second.endpoint, "status").returncode == 0, "it serves")
                for i in range(10):
                    self.assertIn("1", ctl(second.endpoint, "get", "before"))
                last = f"{LOOPS - 1}"
                wait_until(lambda: metric(second, "ingot_door_calls_begun_total", loop=last) > 0, "the last loop serves")

    def test_sigterm_ends_all_loops(self):
        with Daemon(*FLAGS) as daemon:
            ctl(daemon.endpoint, "put", "k", "v")
            self.assertEqual(daemon.stop(), 0)


if __name__ == "__main__":
    unittest.main()
