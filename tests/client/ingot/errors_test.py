"""Each cause gives its error, the same for the same cause; and the table of docs/libingot.md has all of them."""

import array
import contextlib
import fcntl
import mmap
import os
import re
import resource
import signal
import socket
import struct
import tempfile
import threading
import unittest

from c_interface import (INGOT_CLOSED, INGOT_DAMAGED, INGOT_EXHAUSTED, INGOT_INVALID, INGOT_NO_DAEMON,
                         INGOT_NOT_ALLOWED, INGOT_OK, INGOT_OTHER_IDENTITY, INGOT_OTHER_LAYOUT, INGOT_TIMED_OUT,
                         INGOT_TOO_LARGE, INGOT_TOO_OLD, INGOT_TOO_STALE, Failed, View, error_codes, lib)
from tests.daemon.ingot_daemon import RUNTIME, WATCHDOG_S, Daemon, wait_until
from writes import put

STRANGER = 65533
is_root = os.geteuid() == 0
SEAL_SHRINK, SEAL_GROW, ADD_SEALS = 2, 4, 1033


def view_path(path):
    return path.removesuffix(".sock") + ".view.sock"


def in_child(call):
    """What a forked child's call returns, a number below 256."""
    child = os.fork()
    if child == 0:
        code = 255
        try:
            code = call()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def code_of(path, **options):
    try:
        View(path, **options).close()
        return INGOT_OK
    except Failed as failed:
        return failed.code


def ticket(status=0, text=b""):
    return struct.pack("<QII", 0x314b43495457, status, len(text)) + text


def memory(content, seals=SEAL_SHRINK | SEAL_GROW):
    fd = os.memfd_create("libingot-test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.truncate(fd, len(content))
    os.pwrite(fd, content, 0)
    fcntl.fcntl(fd, ADD_SEALS, seals)
    return fd


def real_ticket(daemon):
    """The descriptors of board and generation."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(view_path(daemon.socket))
        fds = array.array("i")
        _, control, _, _ = client.recvmsg(4096, socket.CMSG_SPACE(8))
        for _, _, data in control:
            fds.frombytes(data)
    return list(fds)


@contextlib.contextmanager
def server(answer):
    """The path of an instance's socket beside whose view socket somebody else answers each connection."""
    with tempfile.TemporaryDirectory(dir=RUNTIME) as folder, socket.socket(socket.AF_UNIX) as listener:
        path = folder + "/x.sock"
        listener.bind(view_path(path))
        listener.listen(64)

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                kept.append(connection)
                answer(connection)

        kept = []
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield path
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in kept:
                connection.close()


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon())
        put(cls.daemon, "a", "1")

    def fails_with(self, code, call, *arguments):
        with self.assertRaises(Failed) as failed:
            call(*arguments)
        self.assertEqual(failed.exception.code, code, failed.exception)
        return failed.exception.message

    def test_the_table_of_the_page_has_the_headers_errors_by_their_names(self):
        with open("docs/libingot.md") as page:
            rows = re.findall(r"^\| `(INGOT_\w+)` \| (\w+) \|", page.read(), re.M)
        codes = error_codes()
        self.assertEqual(rows, [(name, lib.ingot_error_name(code).decode()) for name, code in codes.items()])
        for name, code in codes.items():
            self.assertEqual(lib.ingot_error_name(code).decode(), name.removeprefix("INGOT_").lower())
            self.assertTrue(lib.ingot_error_text(code))
        self.assertEqual(sorted(codes.values()), list(range(len(codes))))
        for code in (-1, len(codes), 2**31 - 1):
            self.assertEqual(lib.ingot_error_name(code), b"unknown")
            self.assertTrue(lib.ingot_error_text(code))

    def test_names_that_are_none(self):
        for name in ("relative/path", "unix:relative", "/" + "x" * 200, "x" * 300, "host.example:2379", "127.0.0.1:0",
                     "127.0.0.1:65536", "127.0.0.1:", ":", "unix:", "127.0.0.1:+1", "127.0.0.1:1 "):
            message = self.fails_with(INGOT_INVALID, View, name)
            self.assertIn(name[:100], message)

    def test_no_daemon_where_nobody_listens(self):
        self.assertIn("/nowhere.view.sock", self.fails_with(INGOT_NO_DAEMON, View, "unix:/nowhere.sock"))
        self.fails_with(INGOT_NO_DAEMON, View, "libingot-test-no-such-instance")
        self.fails_with(INGOT_NO_DAEMON, View, "localhost:1")
        with tempfile.TemporaryDirectory(dir=RUNTIME) as folder:
            with socket.socket(socket.AF_UNIX) as dead:
                dead.bind(folder + "/dead.view.sock")
            self.fails_with(INGOT_NO_DAEMON, View, folder + "/dead.sock")
        with Daemon("--view=off") as daemon:
            self.assertIn("--view=off", self.fails_with(INGOT_NO_DAEMON, View, daemon.socket))

    def test_the_environment_names_the_instance(self):
        def opened_by(**variables):
            for name in ("INGOT_ENDPOINT", "INGOT_SOCKET"):
                os.environ.pop(name, None)
            os.environ.update(variables)
            return code_of("")

        name = f"libingot-{os.getpid()}"
        with Daemon(f"--name={name}") as daemon:
            for variables in ({"INGOT_SOCKET": daemon.socket}, {"INGOT_ENDPOINT": "unix:" + daemon.socket},
                              {"INGOT_ENDPOINT": "unix:" + daemon.socket, "INGOT_SOCKET": "/nowhere.sock"}):
                self.assertEqual(in_child(lambda v=variables: opened_by(**v)), INGOT_OK, variables)
            self.assertEqual(in_child(lambda: opened_by(INGOT_SOCKET="", INGOT_ENDPOINT=daemon.endpoint)),
                             INGOT_NO_DAEMON)
            self.assertEqual(in_child(lambda: opened_by(INGOT_SOCKET="relative")), INGOT_INVALID)
            self.assertEqual(code_of(name), INGOT_OK)

    @unittest.skipUnless(is_root, "only root can connect as another user")
    def test_not_allowed(self):
        def as_stranger(path):
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            return code_of(path)

        os.chmod(RUNTIME, 0o755)
        for flags, code in ((), INGOT_NOT_ALLOWED), (("--view-users=65532",), INGOT_NOT_ALLOWED), (
                (f"--view-users={STRANGER}",), INGOT_OK):
            with Daemon(*flags) as daemon:
                put(daemon, "a", "1")
                self.assertEqual(in_child(lambda: as_stranger(daemon.socket)), code, flags)

    def test_what_answers_there_is_something_else(self):
        unsealed = [memory(b"x" * 4096, 0), memory(b"x" * 4096, 0)]
        zeros = [memory(bytes(4096)), memory(bytes(65536))]
        text = ticket(13, b"?" * 100)
        patience_ms = 100_000
        for answer, code, open_timeout_ms in (
                (lambda c: c.send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: c.send(b"\0"), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: c.send(ticket()), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: c.send(ticket()[:-4] + b"\xff" * 4), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: socket.send_fds(c, [ticket()], zeros[:1]), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: socket.send_fds(c, [ticket()], unsealed), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: socket.send_fds(c, [ticket()], zeros), INGOT_OTHER_LAYOUT, patience_ms),
                (lambda c: c.send(text), INGOT_NO_DAEMON, patience_ms),
                (lambda c: None, INGOT_TIMED_OUT, 100)):
            descriptors = len(os.listdir("/proc/self/fd"))
            with server(answer) as path:
                self.assertEqual(code_of(path, open_timeout_ms=open_timeout_ms), code)
            self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)
        for fd in unsealed + zeros:
            os.close(fd)

    def test_damaged_memory_never_harms_its_reader(self):
        revision = put(self.daemon, "key/1", "x" * 100)
        with View(self.daemon.socket) as view:
            view.require(revision)
            self.assertIsNotNone(view.get(b"key/1"))
        fds = real_ticket(self.daemon)
        copies = [memory(os.pread(fd, os.fstat(fd).st_size, 0)) for fd in fds]
        with server(lambda c: socket.send_fds(c, [ticket()], copies)) as path, View(path, timeout_ms=0) as view:
            self.assertIsNotNone(view.get(b"key/1"))
            with mmap.mmap(copies[1], 0) as bytes_:
                bytes_[4096:] = b"\xff" * (len(bytes_) - 4096)
            codes = set()
            for read in (lambda: view.get(b"key/1"), lambda: view.prefix(b"key/"),
                         lambda: view.changes(revision - 1)):
                try:
                    read()
                except Failed as failed:
                    codes.add(failed.code)
            self.assertIn(INGOT_DAMAGED, codes)
            self.assertLessEqual(codes, {INGOT_DAMAGED, INGOT_TOO_OLD, INGOT_OTHER_LAYOUT})
        for fd in fds + copies:
            os.close(fd)

    def test_exhausted(self):
        def with_descriptors(free):
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
            taken = []
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.dup(2))
            for fd in taken[:free]:
                os.close(fd)
            return code_of(self.daemon.socket)

        for free in (0, 1, 2):  # a connection needs one, a ticket brings two
            self.assertEqual(in_child(lambda f=free: with_descriptors(f)), INGOT_EXHAUSTED, free)
        self.assertEqual(in_child(lambda: with_descriptors(3)), INGOT_OK)

    def test_too_stale(self):
        with View(self.daemon.socket, age_max_ms=0, timeout_ms=50) as view:
            self.fails_with(INGOT_TOO_STALE, view.get, b"a")
        with View(self.daemon.socket, age_max_ms=60_000) as view:
            self.assertIsNotNone(view.get(b"a"))

    def test_too_old(self):
        with View(self.daemon.socket) as view:
            view.get(b"a")
            self.fails_with(INGOT_TOO_OLD, view.changes, 0)

    def test_too_large_for_a_view(self):
        with Daemon("--view-bytes=16777216") as daemon:
            for number in range(20):
                put(daemon, f"large/{number}", "x" * 1_000_000)
            self.assertIn("--view-bytes", self.fails_with(INGOT_TOO_LARGE, View, daemon.socket))

    def test_closed_and_another_identity(self):
        name = f"libingot-{os.getpid()}"
        with Daemon(f"--name={name}") as daemon:
            revision = put(daemon, "a", "1")
            view = View(name)
            self.addCleanup(view.close)
            view.require(revision)
            self.assertEqual(view.get(b"a").value, b"1")
            identity = view.identity()
            daemon.stop()
        self.assertEqual(view.get(b"a").value, b"1")
        self.assertEqual(view.wait(b"", view.revision(), -1), INGOT_CLOSED)
        view.require(revision + 1)
        view.set_timeout(100)
        self.fails_with(INGOT_CLOSED, view.get, b"a")
        with Daemon(f"--name={name}") as daemon:
            put(daemon, "a", "2")

            def noticed():
                return code(lambda: view.get(b"a")) == INGOT_OTHER_IDENTITY

            wait_until(noticed, "the view meets another identity")
            self.assertEqual(view.wait(b"", 0, -1), INGOT_OTHER_IDENTITY)
            self.fails_with(INGOT_OTHER_IDENTITY, view.age)
            self.fails_with(INGOT_OTHER_IDENTITY, view.changes, 0)
            with View(name) as other:
                self.assertNotEqual(other.identity(), identity)

    def test_no_daemon_for_what_must_come_after_all_have_died(self):
        name = f"libingot-{os.getpid()}"
        with Daemon(f"--name={name}") as daemon:
            revision = put(daemon, "a", "1")
            with View(name, timeout_ms=2000) as view:
                view.require(revision)
                self.assertEqual(view.get(b"a").value, b"1")
                pids = [daemon.process.pid] + [pid for each in daemon.children().values() for pid in each]
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                daemon.process.wait(WATCHDOG_S)
                self.assertEqual(view.get(b"a").value, b"1")
                wait_until(lambda: view.wait(b"", view.revision(), 100) == INGOT_NO_DAEMON, "nobody is there")
                view.require(revision + 1)
                wait_until(lambda: code(lambda: view.get(b"a")) == INGOT_NO_DAEMON, "nobody is there")


def code(call):
    try:
        call()
        return INGOT_OK
    except Failed as failed:
        return failed.code


if __name__ == "__main__":
    unittest.main()
