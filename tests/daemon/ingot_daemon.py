"""Starts a real ingotd on free loopback ports for a test, and checks what it leaves behind."""

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

INGOTD = "services/ingotd/ingotd"
INGOTCTL = "services/ingotctl/ingotctl"
INGOT_LOAD = "services/ingot_load/ingot-load"

# Watchdogs for a test that hangs; they do not limit the daemon's time.
WATCHDOG_S = 300
# A session's folder for this test's instances, so that they leave no trace and no socket among others. It is short:
# a Unix socket's has at most 107 bytes.
RUNTIME = tempfile.mkdtemp(prefix="ingot-test-", dir="/tmp")
atexit.register(shutil.rmtree, RUNTIME, ignore_errors=True)
os.mkdir(RUNTIME + "/ingot", 0o755)
os.environ["XDG_RUNTIME_DIR"] = RUNTIME
os.environ["RUNTIME_DIRECTORY"] = RUNTIME + "/ingot"  # goes before /run/ingot
# A client's default timeout for one answer: the machine may stop any process for seconds.
PATIENCE = "--timeout=100s"

# What ingotd says when another program has taken a port that was free; the only reason to start it once more.
PORT_TAKEN = "is in use; choose another port with"
METRICS_PORT_TAKEN = "Address already in use; give a free address of this machine as --metrics-listen"

# Errors of a client whose request was not carried out, or not in time.
TURNED_AWAY = "request timed out|too many requests|nothing was done"


class Daemon:
    """One instance. Use as a context manager; leaving it stops the daemon and checks that nothing remains."""

    prefix = ()  # words before the command, such as those of a program that limits it

    def __init__(self, *flags):
        self.flags = flags
        self.log = []
        self.endpoint = None
        self.metrics = None
        self.socket = None  # path of the Unix socket; None: there is none

    def __enter__(self):
        for _ in range(3):
            self._start()
            if self.endpoint is not None:
                return self
            self.process.kill()
            if not any(PORT_TAKEN in line or METRICS_PORT_TAKEN in line for line in self.log):
                break
            self.log.append("(another program took the free port that was chosen; again)\n")
            print("RETRIED: another program took the free port that was chosen")
        raise AssertionError("ingotd did not serve:\n" + "".join(self.log))

    def _start(self):
        command = [*self.prefix, INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", *self.flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.served = threading.Event()
        self.reader.start()
        self.served.wait(WATCHDOG_S)

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"API on (\S+), metrics http://(\S+?)/metrics(?:, Unix socket (.+))?$", line)
            if found:
                self.endpoint, self.metrics, self.socket = found.groups()
                self.served.set()
        self.served.set()

    def __exit__(self, error, *_):
        if self.process.poll() is None:
            self.stop()
        self.reader.join(WATCHDOG_S)
        self.process.stderr.close()
        if error is not None:
            self.keep_log()

    def keep_log(self):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")  # Bazel keeps it, in bazel-testlogs/.../test.outputs
        with tempfile.NamedTemporaryFile("w", prefix="ingotd-", suffix=".log", dir=folder, delete=False) as file:
            file.writelines([" ".join(self.process.args) + "\n", *self.log])
        print(f"the daemon's log is in {file.name}")

    def stop(self, sig=signal.SIGTERM):
        """Sends a signal and returns the exit code."""
        self.process.send_signal(sig)
        self.process.send_signal(signal.SIGCONT)  # a failed test may have left it stopped
        code = self.process.wait(WATCHDOG_S)
        self.reader.join(WATCHDOG_S)
        self.process.stderr.close()
        return code

    def children(self):
        """Pids of the supervisor's children by role, as ps shows them."""
        found = {}
        for pid in processes_below(self.process.pid):
            words = command_line(pid)
            if len(words) > 1 and not keeps_memory(pid):
                found.setdefault(words[1], []).append(pid)
        return found

    def require_service(self):
        """Makes a put and a get, however long they take."""
        ctl(self.endpoint, "put", "still", "here")
        if "here" not in ctl(self.endpoint, "get", "still"):
            raise AssertionError("what was put is not there")

    def status(self, *flags):
        return json.loads(ctl(self.endpoint, "status", "-o", "json", *flags))

    def equal_digests(self, whole=True):
        """Waits until all replicas that are up (with `whole`: all replicas) have applied the same slots, with equal
        digests. A wait for states that differ never ends."""
        def settled():
            answers = self.status("--digest")["replicas"]
            living = [r for r in answers if r["state"] == "up"]
            seen.append([(r["id"], r["state"], r["applied"], r["lag"], r.get("digest")) for r in answers])
            return (len(living) == len(answers) or not whole) and len(
                {(r["applied"], r["digest"], r["lag"]) for r in living}) == 1 and living[0]["lag"] == 0

        seen = []
        try:
            wait_until(settled, "all replicas have applied the same, with equal digests")
        except AssertionError as error:
            raise AssertionError(f"{error}: {seen[-1]}") from None
        return seen[-1]

    def load(self, *flags):
        """Runs ingot-load with its check; returns (exit code, report)."""
        done = subprocess.run([INGOT_LOAD, f"--endpoint={self.endpoint}", "--check", "--check-patience=100s", "-o", "json",
                               *patient(flags)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        report = json.loads(done.stdout) if done.stdout.strip() else {"stderr": done.stderr}
        return done.returncode, report


def patient(words):
    """A client's flags, with the default timeout unless they have their own."""
    return [*words] if any(word.startswith("--timeout=") for word in words) else [*words, PATIENCE]


class Load:
    """Runs ingot-load during a test; its own check verifies every write at the end."""

    def __init__(self, daemon, *flags):
        self.daemon = daemon
        self.outcome = []
        self.thread = threading.Thread(target=lambda: self.outcome.append(daemon.load("--clients=8", *flags)))
        self.thread.start()

    def runs(self):
        return self.thread.is_alive()

    def wait_until_under_way(self):
        wait_until(lambda: not self.runs() or min(r["applied"] for r in self.daemon.status()["replicas"]) > 50,
                   "the load is under way")

    def require_held(self):
        """Makes a write, which must succeed, then ends the load: no acknowledged write is lost, and no read was
        stale. Returns the report."""
        ctl(self.daemon.endpoint, "put", "after", "trouble")
        self.thread.join(WATCHDOG_S)
        code, report = self.outcome[0]
        if code != 0 or report["check"] != "held" or report["stale_reads"] != 0:
            raise AssertionError(f"exit code {code}: {report}")
        if "trouble" not in ctl(self.daemon.endpoint, "get", "after"):
            raise AssertionError("what was put is not there")
        return report


def outage_of(report):
    """A summary in words, for information."""
    return (f"{report['acknowledged']} acknowledged, {report['unknown']} unknown, no write was acknowledged for "
            f"{report['gap_ms_max']} ms")


def run_ctl(endpoint, *words):
    """Runs ingotctl; an error does not fail the test."""
    return subprocess.run([INGOTCTL, f"--endpoint={endpoint}", *patient(words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)


def ctl(endpoint, *words):
    """Runs ingotctl and returns its standard output; an error fails the test. Repeats a write or read that the front
    end gives up because no slot is decided."""
    end = time.monotonic() + WATCHDOG_S
    done = run_ctl(endpoint, *words)
    while (done.returncode != 0 and words[0] in ("put", "get") and
           re.search(TURNED_AWAY, done.stderr) and time.monotonic() < end):
        done = run_ctl(endpoint, *words)
    if done.returncode != 0:
        raise AssertionError(f"ingotctl {' '.join(words)} exited with {done.returncode}: {done.stderr}")
    return done.stdout


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode().split("\0")[:-1]
    except OSError:
        return []


def process_name(pid):
    """The process's name as ps, top and profilers show it."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def keeps_memory(pid):
    """Whether it is a replica's deferred reaper, which frees its memory after its death."""
    return process_name(pid) == "ingotd-memory"


def stat_fields(task):
    """Of /proc/TASK/stat, from the state on: a pid, or PID/task/TID. OSError: it has left."""
    with open(f"/proc/{task}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def processes_below(parent):
    """Pids of all descendants of a process that are not zombies."""
    parents = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = stat_fields(entry)
            if fields[0] != "Z":
                parents[int(entry)] = int(fields[1])
        except OSError:
            pass
    below = [pid for pid, its_parent in parents.items() if its_parent == parent]
    return below + [pid for child in below for pid in processes_below(child)]


def alive(pid):
    """Also while its first thread has ended and others have not: those may have its descriptors and memory."""
    try:
        return stat_fields(pid)[0] not in "ZX" or len(os.listdir(f"/proc/{pid}/task")) > 1
    except OSError:
        return False


def send_signal(pid, number):
    """Returns False if the process has left."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def stop_process(pid):
    """Sends SIGSTOP and returns when each thread has stopped, or the process has ended: on a busy machine threads go on
    for a while after the signal was sent."""
    def thread_states():
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                yield stat_fields(f"{pid}/task/{thread}")[0]
        except OSError:
            pass  # it has ended meanwhile
    if send_signal(pid, signal.SIGSTOP):
        wait_until(lambda: all(state in "TZX" for state in thread_states()), "the process has stopped")


def signal_all(pids, number):
    """Signals those that still run: the standby leaves with its supervisor, and snapshot writers when they are done."""
    for pid in pids:
        send_signal(pid, number)


def wait_until(condition, what):
    """Polls until the condition is true; the watchdog ends a wait that never ends."""
    end = time.monotonic() + WATCHDOG_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("never happened: " + what)
        time.sleep(0.02)


def with_role(daemon, role):
    """The running replica with the role, from the status; waits until there is exactly one."""
    found = []

    def one_has_it():
        found[:] = [r for r in daemon.status()["replicas"] if r["role"] == role and r["state"] == "up"]
        return len(found) == 1

    wait_until(one_has_it, f"one replica that is up is the {role}")
    return found[0]


def cpu_seconds(pids):
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0
    for pid in pids:
        try:
            fields = stat_fields(pid)
            total += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return total / ticks
