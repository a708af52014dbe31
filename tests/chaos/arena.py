"""A daemon under chaos, with clients that record their requests and answers."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from clients import Notes
from tests.daemon.ingot_daemon import (INGOTCTL, INGOTD, PORT_TAKEN, WATCHDOG_S, alive, processes_below, send_signal,
                                       signal_all)

POLL_S = 0.02


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


class Arena:
    """Use as a context manager: leaving it ends everything that it started, even after an exception."""

    def __init__(self, folder, number, replicas, daemon_flags, clients, recorder_flags, seed):
        self.clients = clients  # what they are, as in clients.py
        self.history = os.path.join(folder, f"history-{number}.jsonl")
        self.log_path = os.path.join(folder, f"ingotd-{number}.log")
        self.log = open(self.log_path, "a")
        self.daemon_flags = [f"--name=chaos-{os.getpid()}-{number}", f"--replicas={replicas}", *daemon_flags]
        self.recorder_flags = [f"--seed={seed}", *clients.flags(self.history), *recorder_flags]
        self.supervisor = self.recorder = None
        self.seen = set()  # pids of all processes that the status ever named
        self.wakers = []   # timers that end stops

    def __enter__(self):
        self.start_on_free_ports()
        self.recorder = subprocess.Popen([self.clients.program, f"--endpoint={self.endpoint}", *self.recorder_flags],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.notes = Notes(self.clients.want_notes, self.tell)
        return self

    def tell(self, line):
        """A client that has ended by itself is found at the end."""
        try:
            self.recorder.stdin.write(line)
            self.recorder.stdin.flush()
        except BrokenPipeError:
            pass

    def start_on_free_ports(self):
        """Another program may take a free port first; then tries again with other ports."""
        for attempts_left in range(4, -1, -1):
            listen, metrics = free_ports(2)
            self.endpoint = f"127.0.0.1:{listen}"
            self.command = [INGOTD, f"--listen={self.endpoint}", f"--metrics-listen=127.0.0.1:{metrics}",
                            *self.daemon_flags]
            try:
                return self.start_supervisor()
            except AssertionError:
                if attempts_left == 0 or self.supervisor.poll() is None or PORT_TAKEN not in self.log_tail():
                    raise
                print("RETRIED: another program took the free port that was chosen", file=sys.stderr)

    def __exit__(self, *_):
        for waker in self.wakers:
            waker.cancel()
        if self.recorder.poll() is None:
            self.recorder.kill()
            self.recorder.communicate()
        left = [self.supervisor.pid, *processes_below(self.supervisor.pid), *self.seen]
        signal_all(left, signal.SIGCONT)
        if self.supervisor.poll() is None:
            self.supervisor.terminate()
            try:
                self.supervisor.wait(WATCHDOG_S)
            except subprocess.TimeoutExpired:
                self.supervisor.kill()
        signal_all(filter(self.is_ours, left), signal.SIGKILL)
        self.log.close()

    # ---- The daemon ----

    def start_supervisor(self):
        """Starts the first supervisor, or one that takes over from a dead one."""
        self.supervisor = subprocess.Popen(self.command, stderr=self.log)
        self.wait_until(lambda: self.status() is not None, "ingotd serves")
        self.instance_processes()

    def status(self, *flags):
        """The status; None if the daemon does not answer."""
        if self.supervisor.poll() is not None:
            raise AssertionError(f"ingotd ended by itself with {self.supervisor.returncode}\n{self.log_tail()}")
        done = subprocess.run([INGOTCTL, f"--endpoint={self.endpoint}", "status", "-o", "json", *flags],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        if done.returncode != 0:
            return None
        status = json.loads(done.stdout)
        self.seen.update(r["pid"] for r in status["replicas"] if r.get("pid"))
        return status

    def is_ours(self, pid):
        """Whether the process lives and runs ingotd: another process may have got its number by now."""
        try:
            return alive(pid) and os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("ingotd")
        except OSError:
            return False

    def settled(self, restarts):
        """Whether every replica that should be up is, has applied everything and knows the leader."""
        status = self.status()
        if status is None or status.get("blocked"):
            return False
        living = [r for r in status["replicas"] if r["state"] == "up"]
        expected = len(status["replicas"]) if restarts else sum(r["state"] != "dead" for r in status["replicas"])
        roles = sorted(r["role"] for r in living if r["role"] in ("leader", "acceptor"))
        return len(living) == expected and all(r["lag"] <= 64 for r in living) and roles[-1:] == ["leader"]

    def pids(self, target, chance):
        """The pids that a fault hits; none if no replica has that role now."""
        if target == "supervisor":
            return [self.supervisor.pid]
        status = self.status()
        if target == "front-end":
            fronts = [pid for pid in self.instance_processes() if self.role_word(pid) == "@front-end"]
            return fronts[:1]
        if status is None:
            return []
        living = [r for r in status["replicas"] if r["state"] in ("up", "stopped") and r.get("pid")]
        if target == "all":
            return [r["pid"] for r in living]
        if target == "two":
            return [r["pid"] for r in chance.sample(living, min(2, len(living)))]
        if target == "other":
            others = [r["pid"] for r in living if r["role"] not in ("leader", "acceptor")]
            return others and [chance.choice(others)]
        return [r["pid"] for r in living if r["role"] in target.split("+")]

    def ids(self, pids):
        """The ids of the replicas whose processes these are."""
        status = self.status() or {"replicas": []}
        return {r["id"] for r in status["replicas"] if r.get("pid") in pids}

    def instance_processes(self):
        return [pid for entry in os.listdir("/proc") if entry.isdigit() for pid in [int(entry)]
                if self.is_ours(pid) and self.belongs_here(pid)]

    def belongs_here(self, pid):
        """Whether it is a child of the supervisor, or one that an earlier supervisor left behind."""
        if pid in self.seen or pid in processes_below(self.supervisor.pid):
            self.seen.add(pid)
            return True
        return False

    @staticmethod
    def role_word(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return file.read().decode().split("\0")[1]
        except (OSError, IndexError):
            return ""

    # ---- Faults ----

    def kill(self, pids):
        killed = sum(send_signal(pid, signal.SIGKILL) for pid in pids if self.is_ours(pid))
        self.notes.disturbed()
        return killed

    def stop(self, pids, seconds):
        stopped = [pid for pid in pids if self.is_ours(pid) and send_signal(pid, signal.SIGSTOP)]

        def go_on():
            signal_all(stopped, signal.SIGCONT)
            self.notes.disturbed()

        waker = threading.Timer(seconds, go_on)
        waker.daemon = True
        waker.start()
        self.wakers.append(waker)
        return len(stopped)

    def stop_group(self, seconds):
        """Stops every replica; returns how many there were."""
        replicas = [pid for pid in self.instance_processes() if self.role_word(pid) == "@replica"]
        stopped = [pid for pid in replicas if send_signal(pid, signal.SIGSTOP)]
        from_ns = time.monotonic_ns()
        time.sleep(seconds)
        to_ns = time.monotonic_ns()
        signal_all(stopped, signal.SIGCONT)
        self.notes.stopped(from_ns, to_ns)
        self.notes.disturbed()
        return len(stopped)

    def replace_supervisor(self):
        self.supervisor.wait(WATCHDOG_S)
        self.start_supervisor()

    # ---- The end ----

    def require_blocked(self, victims):
        """Waits until the status names one of the replicas as what the group waits for."""
        self.wait_until(lambda: (self.status() or {}).get("blocked", {}).get("by") in victims,
                        f"the status says that the group is blocked by one of {victims}")

    def finish(self, restarts, blocked=False):
        """Ends the clients and returns their records. Fails if the daemon does not recover first, unless the group is
        blocked for good: then nothing is looked up, and the replicas need not be equal."""
        for waker in self.wakers:
            waker.join()
        if blocked:
            self.notes.blocked()
        else:
            self.wait_until(lambda: self.settled(restarts), "everybody is up again and has caught up")
        self.notes.disturbed()
        self.recorder.stdin.close()
        text = self.recorder.stdout.read()
        self.recorder.wait()
        if not text.strip():
            raise AssertionError(f"the recorder failed:\n{self.status_text()}\n{self.log_tail()}")
        report = json.loads(text)
        report["digests"] = "not compared" if blocked else self.digests(restarts)
        report["blocked"] = blocked
        return report

    def digests(self, restarts):
        """The digests, which must be equal, since there are no writes any more; else fails."""
        self.wait_until(lambda: self.settled(restarts), "everybody is up")

        def same():
            status = self.status("--digest")
            living = [r for r in (status or {"replicas": []})["replicas"] if r["state"] == "up"]
            self.last_digests = [(r["id"], r["applied"], r.get("digest")) for r in living]
            return len({each[1:] for each in self.last_digests}) == 1
        self.wait_until(same, lambda: f"digests are equal: {self.last_digests}")
        return "equal"

    def wait_until(self, condition, what):
        end = time.monotonic() + WATCHDOG_S
        while not condition():
            if time.monotonic() > end:
                what = what if isinstance(what, str) else what()
                raise AssertionError(f"never happened: {what}\n{self.status_text()}\n{self.log_tail()}")
            time.sleep(POLL_S)

    def status_text(self):
        done = subprocess.run([INGOTCTL, f"--endpoint={self.endpoint}", "status"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.stdout

    def log_tail(self):
        with open(self.log_path) as file:
            return "".join(file.readlines()[-40:])
