"""Strangers pass descriptors to an instance's Unix sockets that take long to close. Regression: a process that dropped
one stood still for as long as the stranger had chosen; any user could so stop all replicas."""

import os
import re
import signal
import socket
import struct
import unittest

from ingot_daemon import WATCHDOG_S, Daemon, ctl, signal_all

STRANGER = 61236  # a user that owns nothing
LINGER_S = 10 * WATCHDOG_S
SO_PASSRIGHTS = 83


def kernel_refuses():
    """Whether sockets of this kernel can refuse descriptors (Linux 6.16)."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS, 0)
            return True
        except OSError:
            return False


def linger(tcp, seconds):
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", seconds > 0, seconds))


class PassedDescriptors(unittest.TestCase):
    def lingering(self):
        """A TCP socket with data that its peer does not read."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            own = socket.create_connection(server.getsockname())
            peer, _ = server.accept()
        own.setblocking(False)
        try:
            while True:
                own.send(bytes(65536))
        except BlockingIOError:
            pass
        linger(own, LINGER_S)
        self.addCleanup(peer.close)
        return own

    def attack(self, connection, sent):
        """Returns whether the kernel has refused the descriptor."""
        own = self.lingering()
        try:
            socket.send_fds(connection, [sent], [own.fileno()])
            own.close()
            return False
        except PermissionError:
            linger(own, 0)
            own.close()
            return True

    def connect(self, kind, address, user=None):
        connection = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(connection.close)
        if user is None:
            connection.connect(address)
            return connection
        before = os.geteuid()
        os.seteuid(user)  # the kernel notes a connection's user when it is made
        try:
            connection.connect(address)
        finally:
            os.seteuid(before)
        return connection

    def test_a_descriptor_passed_to_the_unix_socket_stopped_a_front_end(self):
        with Daemon("--front-end-loops=1") as daemon:
            for sent in (b"x", b"PRI * HTTP/2.0\r\n"):
                connection = self.connect(socket.SOCK_STREAM, daemon.socket)
                self.assertEqual(self.attack(connection, sent), kernel_refuses())
                connection.close()
                ctl(f"unix:{daemon.socket}", "put", "a", "1")
            self.assertEqual(daemon.stop(), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can connect as another user")
    def test_a_descriptor_that_any_user_passed_stopped_a_replica(self):
        instance = f"passed-{os.getpid()}"
        with Daemon(f"--name={instance}", "--orphan-grace=200s") as daemon:
            with open("/proc/net/unix") as listed:
                names = re.findall(rf"@(ingot/{instance}/\w+/\S+)$", listed.read(), re.M)
            self.assertEqual(sorted(name.split("/")[2] for name in names), ["0", "1", "2", "f", "s"])
            processes = [pid for role in ("@replica", "@front-end") for pid in daemon.children()[role]]
            signal_all(processes, signal.SIGSTOP)  # so the descriptors wait in the sockets' queues
            for name in names:
                connection = self.connect(socket.SOCK_SEQPACKET, b"\0" + name.encode(), STRANGER)
                self.assertEqual(self.attack(connection, b"x"), kernel_refuses())
            signal_all(processes, signal.SIGCONT)
            daemon.require_service()
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(WATCHDOG_S)
            with Daemon(*daemon.flags) as second:  # attaches to each process
                second.require_service()
                self.assertEqual(second.stop(), 0)


if __name__ == "__main__":
    unittest.main()
