"""Limits of the user that leave no room for an instance: one sentence says which, and nothing serves."""

import os
import resource
import shutil
import signal
import subprocess
import threading
import unittest

from ingot_daemon import INGOTD, WATCHDOG_S, run_ctl

USER = 61237  # root has no limit of processes; this user has no other processes


def run_limited(limits, *flags):
    """Starts ingotd with the limits, as a user of its own if this is root. Once it has said that it serves, makes a put
    and stops it. Returns exit code, lines of standard error, and the put's outcome (None: it did not serve)."""
    program = os.open(INGOTD, os.O_RDONLY)  # the user may not reach the path

    def limit():
        os.chdir("/")
        for which, most in limits.items():
            resource.setrlimit(which, (most, most))
        if os.geteuid() == 0:
            os.setgid(USER)
            os.setuid(USER)

    environment = {key: value for key, value in os.environ.items()
                   if key not in ("XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY")}
    process = subprocess.Popen([f"/proc/self/fd/{program}", "--listen=127.0.0.1:0", "--metrics-listen=", *flags],
                               stderr=subprocess.PIPE, text=True, pass_fds=(program,), preexec_fn=limit,
                               env=environment)
    watchdog = threading.Timer(WATCHDOG_S, process.kill)
    watchdog.start()
    lines, put = [], None
    try:
        for line in process.stderr:
            lines.append(line)
            if "API on " in line:
                endpoint = line.split("API on ")[1].split(",")[0]
                put = run_ctl(endpoint, "put", "a", "1").returncode
                process.send_signal(signal.SIGTERM)
        return process.wait(WATCHDOG_S), lines, put
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stderr.close()
        os.close(program)


def tasks_of_user():
    """Threads and processes of this test's user; 0 for root, whose place another user takes."""
    if os.geteuid() == 0:
        return 0
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == os.geteuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass
    return count


class Limits(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        if os.geteuid() == 0:
            shutil.rmtree(f"/tmp/ingot-{USER}", ignore_errors=True)  # where that user's instances leave their traces

    def require_refusal(self, outcome, *words):
        code, lines, put = outcome
        self.assertEqual(code, 2, lines)
        self.assertIsNone(put)
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_it_said_serving_with_too_few_descriptors_to_answer(self):
        for most in (20, 30, 34, 36, 38, 40, 64, 128):
            with self.subTest(most):
                self.require_refusal(run_limited({resource.RLIMIT_NOFILE: most}), "open files",
                                     f"the limit is {most};", "ulimit -n")
        code, lines, put = run_limited({resource.RLIMIT_NOFILE: 256})
        self.assertEqual((code, put), (0, 0), lines)
        self.require_refusal(run_limited({resource.RLIMIT_NOFILE: 256}, "--replicas=48"), "--replicas=48", "ulimit -n")

    def test_a_limit_of_file_sizes_ended_it_by_a_signal(self):
        for most in (0, 4096, 1 << 20, 1 << 30):
            with self.subTest(most):
                self.require_refusal(run_limited({resource.RLIMIT_FSIZE: most}), "shared memory",
                                     f"the limit is {most};", "ulimit -f")

    def test_a_limit_of_processes_ended_in_terminate_called(self):
        present = tasks_of_user()
        for room in (1, 2, 3, 4, 6, 8, 12, 14, 16, 20, 24, 28):
            with self.subTest(room):
                self.require_refusal(run_limited({resource.RLIMIT_NPROC: present + room}), "threads and processes",
                                     "ulimit -u")
        code, lines, put = run_limited({resource.RLIMIT_NPROC: present + 2000})
        self.assertEqual((code, put), (0, 0), lines)


if __name__ == "__main__":
    unittest.main()
