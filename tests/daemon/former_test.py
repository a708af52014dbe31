"""After the death of all processes the next instance of the name says that there was one; after a clean stop it does
not."""

import os
import signal
import tempfile
import time
import unittest
from unittest import mock

from ingot_daemon import RUNTIME, WATCHDOG_S, Daemon, alive, ctl, processes_below, run_ctl, signal_all, wait_until

WORDS = "ended without a clean stop"


def unique_name(what):
    return f"{what}-{os.getpid()}-{time.monotonic_ns()}"


def kill_everybody(daemon):
    pids = [daemon.process.pid, *processes_below(daemon.process.pid)]
    signal_all(pids, signal.SIGKILL)
    daemon.process.wait(WATCHDOG_S)
    wait_until(lambda: not any(alive(pid) for pid in pids), "all have died")


def trace_of(name):
    return f"{RUNTIME}/ingot/{name}.serving"


class Former(unittest.TestCase):
    def require_said(self, daemon, said):
        self.assertEqual(any(WORDS in line for line in daemon.log), said, daemon.log)
        self.assertEqual(WORDS in ctl(daemon.endpoint, "status"), said)
        self.assertEqual("lost_former_unix_ms" in daemon.status(), said)

    def test_an_instance_came_up_empty_after_everybodys_death_and_did_not_say_so(self):
        name = unique_name("former")
        with Daemon(f"--name={name}") as first:
            self.require_said(first, False)
            ctl(first.endpoint, "put", "a", "1")
            kill_everybody(first)
        with Daemon(f"--name={name}") as second:
            self.require_said(second, True)
            self.assertIn("0 keys", run_ctl(second.endpoint, "get", "a").stdout)
            self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(trace_of(name)))
        with Daemon(f"--name={name}") as third:
            self.require_said(third, False)

    def test_orphans_that_have_left_are_told_of_too(self):
        name = unique_name("left")
        with Daemon(f"--name={name}", "--orphan-grace=0") as first:
            children = processes_below(first.process.pid)
            first.stop(signal.SIGKILL)
            wait_until(lambda: not any(alive(pid) for pid in children), "the orphans leave")
        with Daemon(f"--name={name}") as second:
            self.require_said(second, True)

    def test_a_supervisor_that_takes_over_has_lost_nothing(self):
        name = unique_name("taken")
        with Daemon(f"--name={name}", "--orphan-grace=200s") as first:
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            with Daemon(*first.flags) as second:
                self.require_said(second, False)
                self.assertTrue(os.path.exists(trace_of(name)))
                self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(trace_of(name)))

    def test_a_supervisor_that_took_over_in_another_environment_left_the_trace_behind(self):
        name = unique_name("moved")
        with Daemon(f"--name={name}", "--orphan-grace=200s") as first, tempfile.TemporaryDirectory() as other:
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            self.assertTrue(os.path.exists(trace_of(name)))
            with mock.patch.dict(os.environ, XDG_RUNTIME_DIR=other, RUNTIME_DIRECTORY=other), \
                    Daemon(*first.flags) as second:
                self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(trace_of(name)))

    def test_a_start_that_fails_keeps_the_trace_of_the_former(self):
        name = unique_name("failed")
        with Daemon(f"--name={name}") as first:
            kill_everybody(first)
        failed = Daemon(f"--name={name}", "--tree=none")
        with self.assertRaises(AssertionError), failed:
            pass
        failed.process.wait(WATCHDOG_S)
        with Daemon(f"--name={name}") as second:
            self.require_said(second, True)


if __name__ == "__main__":
    unittest.main()
