"""A front end that runs and answers nothing is killed and started again."""

import ctypes
import os
import re
import signal
import time
import unittest
import urllib.request

from ingot_daemon import WATCHDOG_S, Daemon, alive, ctl, run_ctl, stat_fields, wait_until

BOUND = "--front-end-timeout=4s"

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000  # waitpid: for threads, too
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, thread):
    """Of the thread that calls it: only that one is the tracer."""
    if libc.ptrace(ctypes.c_long(request), ctypes.c_long(thread), None, None) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of {thread}")


def halt_threads(pid):
    """Halts every thread but the first, which runs the loop and reads what the supervisor sends: the process looks
    alive, and its server answers nothing. They stay so until their process or this one ends. Returns their numbers."""
    halted = set()
    while True:
        others = {int(thread) for thread in os.listdir(f"/proc/{pid}/task")} - {pid} - halted
        if not others:
            return halted
        for thread in others:
            try:
                ptrace(PTRACE_SEIZE, thread)
                ptrace(PTRACE_INTERRUPT, thread)
            except ProcessLookupError:
                pass  # it has ended meanwhile
            halted.add(thread)


def bury(threads):
    """Takes note of the halted threads that have ended: their process's end is reported to its parent only then."""
    for thread in [*threads]:
        try:
            while os.waitpid(thread, os.WNOHANG | WALL) != (0, 0):
                pass
        except ChildProcessError:
            threads.discard(thread)
    return not threads


def front_end(daemon):
    return daemon.children().get("@front-end", [None])[0]


def hangs(daemon):
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        return float(re.search(r"^ingot_front_end_hangs_total (\S+)$", answer.read().decode(), re.M)[1])


class FrontEndHangs(unittest.TestCase):
    def is_started_again(self, daemon, victim):
        wait_until(lambda: not alive(victim), "the front end that answers nothing is killed")
        wait_until(lambda: front_end(daemon) not in (None, victim), "there is another front end")
        wait_until(lambda: run_ctl(daemon.endpoint, "status").returncode == 0, "it serves")
        daemon.require_service()
        words = f"the front end (pid {victim}) has answered nothing for 4s; it is killed"
        said = lambda: [line for line in daemon.log if words in line]  # read with a delay
        wait_until(said, f"it says: {words}")
        self.assertEqual(len(said()), 1, daemon.log)

    def test_one_whose_server_answers_nothing_is_killed_though_its_loop_runs(self):
        with Daemon(BOUND) as daemon:
            self.assertEqual(hangs(daemon), 0)
            victim = front_end(daemon)
            halted = halt_threads(victim)
            self.assertEqual(run_ctl(daemon.endpoint, "status", "--timeout=500ms").returncode, 1, "it answers nothing")
            self.assertIn(stat_fields(victim)[0], "RS", "its first thread is not halted")
            wait_until(lambda: bury(halted), "the front end that answers nothing is killed")
            self.is_started_again(daemon, victim)
            self.assertGreaterEqual(hangs(daemon), 1)
            doubled = "the next one has 8s to answer"
            wait_until(lambda: any(doubled in line for line in daemon.log), "the bound has doubled")

    def test_a_stopped_one_is_killed_also_by_a_supervisor_that_has_adopted_it(self):
        name = f"hang-{os.getpid()}"
        flags = (BOUND, f"--name={name}", "--orphan-grace=200s")
        with Daemon(*flags) as first:
            ctl(first.endpoint, "put", "before", "stop")
            victim = front_end(first)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            os.kill(victim, signal.SIGSTOP)
            with Daemon(*flags) as second:
                self.is_started_again(second, victim)
                self.assertIn("stop", ctl(second.endpoint, "get", "before"))

    def test_one_that_is_stopped_for_less_than_the_bound_goes_on(self):
        with Daemon() as daemon:
            victim = front_end(daemon)
            os.kill(victim, signal.SIGSTOP)
            time.sleep(3)
            os.kill(victim, signal.SIGCONT)
            daemon.require_service()
            self.assertEqual((front_end(daemon), hangs(daemon)), (victim, 0))

    def test_a_supervisor_that_was_stopped_for_longer_than_the_bound_kills_nothing(self):
        with Daemon(BOUND) as daemon:
            victim = front_end(daemon)
            daemon.process.send_signal(signal.SIGSTOP)
            time.sleep(5)
            daemon.process.send_signal(signal.SIGCONT)
            time.sleep(3)
            daemon.require_service()
            self.assertEqual((front_end(daemon), hangs(daemon)), (victim, 0))

    def test_with_a_timeout_of_0_a_stopped_one_is_left_alone(self):
        with Daemon("--front-end-timeout=0") as daemon:
            victim = front_end(daemon)
            os.kill(victim, signal.SIGSTOP)
            time.sleep(5)
            os.kill(victim, signal.SIGCONT)
            daemon.require_service()
            self.assertEqual(front_end(daemon), victim)


if __name__ == "__main__":
    unittest.main()
