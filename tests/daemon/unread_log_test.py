"""A log that is not read stops nothing: lines are lost and counted."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import unittest
import urllib.request

from ingot_daemon import INGOTD, WATCHDOG_S, Daemon, alive, processes_below, signal_all, wait_until

TEXT_LINE = (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warning|error) "
             r"(supervisor|front-end|replicas|replica-\d+): .*")

# If a writer has no room for so long, the kernel makes none without a reader.
SETTLED_MS = 300


class StandardError:
    """What a daemon has as its standard error: a pipe, a socket (as under systemd) or a terminal. The test keeps the
    daemon's end open, as a shell does."""

    def __init__(self, kind):
        if kind == "socket":
            ends = socket.socketpair()
            self.reader, self.writer = (end.detach() for end in ends)
        else:
            self.reader, self.writer = pty.openpty() if kind == "terminal" else os.pipe()
        self.kind = kind
        os.set_blocking(self.reader, False)
        self.text = ""

    def close(self):
        os.close(self.reader)
        os.close(self.writer)

    def read(self):
        """Reads what is there; returns everything that was read so far."""
        try:
            while data := os.read(self.reader, 65536):
                self.text += data.decode().replace("\r\n", "\n")
        except BlockingIOError:
            pass
        return self.text

    def lines(self):
        return [line for line in self.read().split("\n") if line.strip(".")]

    def fill(self):
        """Writes dots until there is no room for one more."""
        if self.kind == "socket":
            with socket.socket(fileno=os.dup(self.writer)) as writer:
                self._fill(writer.fileno(), lambda data: writer.send(data, socket.MSG_DONTWAIT))
            return
        own = os.open(f"/proc/self/fd/{self.writer}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        self._fill(own, lambda data: os.write(own, data))
        os.close(own)

    @staticmethod
    def _fill(writer, write):
        room = select.poll()
        room.register(writer, select.POLLOUT)
        for size in (4096, 1):
            try:
                while write(b"." * (size - 1) + b"\n"):
                    pass
            except BlockingIOError:
                pass
        if room.poll(SETTLED_MS):  # the kernel passes what a terminal is given on to its other end, some time later
            StandardError._fill(writer, write)

    def waits(self):
        """Whether a write of others that have the same open file waits, as it did before the daemon started."""
        return fcntl.fcntl(self.writer, fcntl.F_GETFL) & os.O_NONBLOCK == 0


class UnreadDaemon(Daemon):
    """A daemon whose standard error the test reads when it wants to."""

    def __init__(self, error, *flags):
        super().__init__(*flags)
        self.error = error

    def _start(self):
        command = [INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", *self.flags]
        self.process = subprocess.Popen(command, stderr=self.error.writer)
        wait_until(lambda: self._found() or self.process.poll() is not None, "the daemon serves")

    def _found(self):
        found = re.search(r"API on (\S+), metrics http://(\S+?)/metrics", self.error.read())
        if found:
            self.endpoint, self.metrics = found.groups()
        self.log = [line + "\n" for line in self.error.lines()]
        return found

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)
        return self.process.wait(WATCHDOG_S)

    def lines_lost(self):
        """Lines of the log that were lost, by process, as the metrics say."""
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=WATCHDOG_S) as answer:
            text = answer.read().decode()
        return {process: int(count) for process, count in
                re.findall(r'^ingot_log_lines_lost_total\{process="([^"]+)"\} (\d+)$', text, re.MULTILINE)}

    def kill_and_await(self, replica):
        """Kills a replica, and waits until its next incarnation is up."""
        before = self.status()["replicas"][replica]
        os.kill(before["pid"], signal.SIGKILL)

        def is_back():
            now = self.status()["replicas"][replica]
            return now["state"] == "up" and now["incarnation"] > before["incarnation"]

        wait_until(is_back, f"replica {replica} is started again")


class UnreadLog(unittest.TestCase):
    def check_goes_on(self, kind):
        error = StandardError(kind)
        with UnreadDaemon(error) as daemon:
            self.assertTrue(error.waits())
            error.fill()
            for replica in (0, 1, 2):
                daemon.kill_and_await(replica)
            daemon.require_service()
            self.assertGreaterEqual(daemon.lines_lost()["supervisor"], 4)
            already = len(error.lines())
            daemon.kill_and_await(0)
            wait_until(lambda: re.search(r"replica 0 .* is up as incarnation 3", error.read()), "the log goes on")
            new = [line for line in error.lines()[already:] if " supervisor: " in line]
            reports = [re.search(r" (\d+) lines? w\w+ lost", line) for line in new]
            lost = sum(int(report.group(1)) for report in reports if report)
            # Two lines for each of the four restarts, read or lost; those of the first two at least are lost.
            self.assertEqual(lost + reports.count(None), 8, new)
            self.assertGreaterEqual(lost, 4, new)
            error.fill()
            children = processes_below(daemon.process.pid)
            self.assertEqual(daemon.stop(signal.SIGTERM), 0)
            self.assertFalse(any(alive(pid) for pid in children))
            self.assertTrue(error.waits())
        error.close()

    def test_a_full_pipe_that_is_not_read_does_not_stop_the_supervisor(self):
        self.check_goes_on("pipe")

    def test_nor_does_a_socket(self):
        self.check_goes_on("socket")

    def test_nor_does_a_terminal(self):
        self.check_goes_on("terminal")

    def test_a_daemon_that_fails_ends_though_its_last_line_has_no_room(self):
        error = StandardError("pipe")
        with UnreadDaemon(error, "--isolation=thread") as daemon:
            error.fill()
            os.kill(daemon.children()["@replicas"][0], signal.SIGKILL)
            self.assertEqual(daemon.process.wait(WATCHDOG_S), 1)
        error.close()


class UnreadFault(unittest.TestCase):
    """What keeps an instance from starting is said before the log begins. With standard error full, ingotd hung there,
    and no service manager started it again."""

    def check_ends(self, kind, code, *arguments):
        error = StandardError(kind)
        error.fill()
        process = subprocess.Popen([INGOTD, *arguments], stderr=error.writer)
        try:
            self.assertEqual(process.wait(WATCHDOG_S), code)
        finally:
            process.kill()
            process.wait()
        self.assertTrue(error.waits())
        error.close()

    def test_a_wrong_flag_ends_ingotd(self):
        for kind in ("pipe", "socket", "terminal"):
            with self.subTest(kind):
                self.check_ends(kind, 2, "--replicas=none")

    def test_so_does_a_role_by_hand(self):
        self.check_ends("pipe", 2, "@foo")

    def test_so_does_a_port_that_is_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.check_ends("pipe", 2, f"--listen=127.0.0.1:{taken.getsockname()[1]}", "--metrics-listen=")

    def test_so_does_an_instance_none_of_whose_processes_answers(self):
        name = f"--name=unread-{os.getpid()}"
        with Daemon(name, "--orphan-grace=200s") as first:
            children = processes_below(first.process.pid)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(WATCHDOG_S)
            signal_all(children, signal.SIGSTOP)
            try:
                self.check_ends("pipe", 1, name, "--listen=127.0.0.1:0", "--metrics-listen=")
            finally:
                signal_all(children, signal.SIGCONT)
            with Daemon(*first.flags) as second:
                second.require_service()


class Lines(unittest.TestCase):
    def lines_of(self, *flags):
        """Those of a daemon that is killed part by part."""
        error = StandardError("pipe")
        with UnreadDaemon(error, *flags) as daemon:
            daemon.kill_and_await(1)
            daemon.require_service()
        lines = error.lines()
        error.close()
        self.assertGreaterEqual(len(lines), 3)
        return lines

    def test_lines_are_text_with_time_level_and_process(self):
        for line in self.lines_of():
            self.assertRegex(line, rf"\A{TEXT_LINE}\Z")

    def test_lines_are_json_objects(self):
        records = [json.loads(line) for line in self.lines_of("--log-format=json")]
        for record in records:
            self.assertEqual(list(record), ["time", "level", "process", "message"])
            self.assertRegex(f"{record['time']} {record['level']} {record['process']}: ", TEXT_LINE)
        self.assertTrue(any(r["process"] == "supervisor" and r["level"] == "warning" and
                            "was killed by signal 9; starting it again as incarnation 2" in r["message"]
                            for r in records), records)


if __name__ == "__main__":
    unittest.main()
