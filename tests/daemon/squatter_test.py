"""Other users of the machine bind an instance's names before it does: it starts, serves and is taken over all the same,
and trusts none of their sockets."""

import inspect
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

import stranger
from ingot_daemon import WATCHDOG_S, Daemon, wait_until

STRANGER = 61236  # a user that owns nothing


def unique_name(what):
    return f"{what}-{os.getpid()}-{time.monotonic_ns()}"


def old_names(instance):
    """The fixed names by which processes listened once, each for both types of sockets that were used."""
    names = [f"ingot/{instance}"] + [f"ingot/{instance}/{child}" for child in ("front-end", "replicas", *(
        f"replica/{i}" for i in range(3)))]
    return [(name, kind) for name in names for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)]


def look_alikes(instance):
    """Names as a process of the instance could have them."""
    return [(f"ingot/{instance}/{word}/AAAAAAA", socket.SOCK_SEQPACKET) for word in ("s", "f", "0", "1", "2")]


def forged_lines(instance, inode):
    """Names that are in /proc/net/unix as a line of their own each, which seems to show a look-alike with that inode.
    There are several of each, since the kernel lists sockets in any order: one comes after the real one."""
    return [(f"x{i}\n0: 0 0 00010000 0005 01 {inode} @{name}", kind)
            for name, kind in look_alikes(instance) for i in range(16)]


def as_root():
    """The words before a command that root is to run: none for root itself, sudo if it asks for no password, else
    None."""
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "-n"]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    allowed = shutil.which("sudo") and subprocess.run([*sudo, "true"], **quiet).returncode == 0
    return sudo if allowed else None


AS_ROOT = as_root()
needs_root = unittest.skipIf(AS_ROOT is None, "only root, or sudo without a password, can act as another user")


class Squatter:
    """Another user's process that binds names and listens on them. With `full` no connection to them succeeds."""

    def __init__(self, names, full=False):
        names = [(name, int(kind)) for name, kind in names]
        program = f"{inspect.getsource(stranger)}\nsquat({STRANGER}, {names}, {full})"
        self.process = subprocess.Popen([*AS_ROOT, sys.executable, "-c", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "bound\n":
            self.end()
            raise AssertionError("the squatter could not bind its names")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.stdin.close()
        self.process.wait(WATCHDOG_S)
        self.process.stdout.close()


class Squatters(unittest.TestCase):
    def require_take_over(self, daemon):
        """Kills the supervisor; the next one finds the processes."""
        daemon.require_service()
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(WATCHDOG_S)
        with Daemon(*daemon.flags) as second:
            wait_until(lambda: any("attached to" in line for line in second.log), "the next supervisor attaches")
            second.require_service()

    def test_fixed_names_that_are_taken_kept_an_instance_from_starting(self):
        name = unique_name("squat")
        held = [stranger.bind(taken, kind, listens=False) for taken, kind in old_names(name)]
        with Daemon(f"--name={name}", "--orphan-grace=200s") as daemon:
            self.require_take_over(daemon)
        for each in held:
            each.close()

    @needs_root
    def test_another_users_sockets_are_neither_in_the_way_nor_trusted(self):
        name = unique_name("strange")
        with Squatter(old_names(name) + look_alikes(name)):
            with Daemon(f"--name={name}", "--orphan-grace=200s") as daemon:
                self.require_take_over(daemon)

    @needs_root
    def test_a_full_queue_at_another_users_socket_kept_an_instance_from_starting(self):
        name = unique_name("full")
        with Squatter(look_alikes(name), full=True):
            with Daemon(f"--name={name}", "--orphan-grace=200s") as daemon:
                self.require_take_over(daemon)

    @needs_root
    def test_a_forged_line_of_the_kernels_list_kept_an_instance_from_starting(self):
        name = unique_name("forged")
        with socket.socket(socket.AF_UNIX) as own:  # so a socket of this user has that inode
            inode = os.fstat(own.fileno()).st_ino
            with Squatter(forged_lines(name, inode)), Squatter(look_alikes(name), full=True):
                with Daemon(f"--name={name}", "--orphan-grace=200s") as daemon:
                    self.require_take_over(daemon)


if __name__ == "__main__":
    unittest.main()
