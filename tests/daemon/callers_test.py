"""Over the Unix socket the daemon knows who calls: what needs its own user is refused to others, and over TCP."""

import os
import signal
import socket
import subprocess
import threading
import unittest

from ingot_daemon import INGOTCTL, INGOTD, PATIENCE, WATCHDOG_S, alive, ctl, wait_until
from socket_case import DRILL, SocketCase, port_of

STRANGER = 61236  # a user that owns nothing
DENIED = "is for the daemon's own user and root"
is_root = os.geteuid() == 0
needs_root = unittest.skipIf(not is_root, "only root can act as another user")


def ctl_as(user, endpoint, *words, groups=(), environment=None):
    """Runs ingotctl as another user, who may have no access to the binary's folder."""
    program = os.open(INGOTCTL, os.O_RDONLY)

    def become():
        os.chdir("/")
        os.setgroups(list(groups))
        os.setgid(user)
        os.setuid(user)

    try:
        return subprocess.run([f"/proc/self/fd/{program}", f"--endpoint={endpoint}", PATIENCE, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S,
                              preexec_fn=become, pass_fds=(program,), env={**os.environ, **(environment or {})})
    finally:
        os.close(program)


class Callers(SocketCase):
    def test_the_daemons_own_user_drills_by_the_socket_and_not_by_tcp(self):
        daemon = self.start()
        ctl(f"unix:{daemon.socket}", "move", "leader", "--to=2")
        ctl(daemon.endpoint, *DRILL)
        for words in (DRILL, ("move", "leader", "--to=0")):
            env = {**os.environ, "INGOT_SOCKET": ""}  # ingotctl looks for none
            denied = subprocess.run([INGOTCTL, f"--endpoint={daemon.endpoint}", PATIENCE, *words], text=True, env=env,
                                    stderr=subprocess.PIPE, timeout=WATCHDOG_S)
            self.assertEqual(denied.returncode, 1)
            self.assertIn(DENIED, denied.stderr)
            self.assertIn(daemon.socket, denied.stderr)
        daemon.require_service()

    @needs_root
    def test_other_users_read_and_write_and_do_not_drill(self):
        daemon = self.start("--socket-mode=0666")
        group = self.start("--socket-mode=0660", f"--socket-group={STRANGER}")
        for each in (daemon, group):
            endpoint = f"unix:{each.socket}"
            done = ctl_as(STRANGER, endpoint, "put", "by", "stranger")
            self.assertEqual(done.returncode, 0, done.stderr)
            for words in (DRILL, ("drill", "kill", "supervisor"), ("move", "leader", "--to=1")):
                for target in (endpoint, each.endpoint):
                    denied = ctl_as(STRANGER, target, *words)
                    self.assertEqual(denied.returncode, 1)
                    self.assertIn(DENIED, denied.stderr)
            self.assertTrue(alive(each.process.pid))
            self.assertEqual({r["state"] for r in each.status()["replicas"]}, {"up"})

    @needs_root
    def test_a_user_who_may_not_connect_falls_back_to_tcp(self):
        daemon = self.start("--socket-mode=0600")
        done = ctl_as(STRANGER, f"unix:{daemon.socket}", "put", "a", "1")
        self.assertEqual(done.returncode, 1)
        done = ctl_as(STRANGER, daemon.endpoint, "put", "a", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(DENIED, ctl_as(STRANGER, daemon.endpoint, *DRILL).stderr)

    @needs_root
    def test_a_daemon_of_another_user_takes_drills_from_that_user_and_from_root(self):
        path = f"{self.folder}/own"
        os.mkdir(path)
        os.chown(path, STRANGER, STRANGER)
        program = os.open(INGOTD, os.O_RDONLY)

        def become():
            os.chdir("/")
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)

        daemon = subprocess.Popen([f"/proc/self/fd/{program}", "--listen=127.0.0.1:0", "--metrics-listen=",
                                   f"--socket={path}/a.sock"], stderr=subprocess.PIPE, text=True,
                                  preexec_fn=become, pass_fds=(program,))
        os.close(program)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait, WATCHDOG_S)
        self.addCleanup(daemon.terminate)
        line = next(line for line in daemon.stderr if "serving" in line)
        endpoint = f"unix:{path}/a.sock"
        self.assertIn(endpoint[5:], line)
        reader = threading.Thread(target=daemon.stderr.read, daemon=True)
        reader.start()
        done = ctl_as(STRANGER, endpoint, *DRILL)
        self.assertEqual(done.returncode, 0, done.stderr)
        ctl(endpoint, "drill", "kill", "replica=1")  # root
        os.chmod(path + "/a.sock", 0o666)
        denied = ctl_as(STRANGER + 1, endpoint, *DRILL)
        self.assertIn(f"the caller is user {STRANGER + 1}; call it as user {STRANGER} or root", denied.stderr)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(WATCHDOG_S), 0)
        reader.join(WATCHDOG_S)

    def test_on_a_test_machine_every_caller_may_drill(self):
        daemon = self.start("--allow-remote-drills", "--socket=")
        ctl(daemon.endpoint, *DRILL)
        daemon.require_service()

    # ---- ingotctl ----

    def test_ingotctl_finds_the_socket_of_the_instance_that_was_asked_for_and_no_other(self):
        first, second = self.start(), self.start(f"--name=second-{os.getpid()}")
        third = self.start(f"--name=ingot-{port_of(second)}")  # named like the second one's port, at another one
        for daemon in (first, second, third):
            ctl(daemon.endpoint, "put", "me", daemon.endpoint)
        # A drill is taken only at a socket; each hits the instance whose address was given.
        for daemon in (first, second, third):
            before = {d: {r["id"]: r["pid"] for r in d.status()["replicas"]} for d in (first, second, third)}
            ctl(daemon.endpoint, *DRILL)
            wait_until(lambda now=daemon: now.status()["replicas"][2]["pid"] not in (0, before[now][2]),
                       "the replica that was hit is started again")
            for other in (first, second, third):
                if other is not daemon:
                    self.assertEqual({r["id"]: r["pid"] for r in other.status()["replicas"]}, before[other])
        # A socket that is named and leads to another instance is passed over.
        environment = {**os.environ, "INGOT_SOCKET": second.socket}
        got = subprocess.run([INGOTCTL, f"--endpoint={first.endpoint}", PATIENCE, "get", "me"], env=environment,
                             text=True, stdout=subprocess.PIPE, timeout=WATCHDOG_S)
        self.assertIn(first.endpoint, got.stdout)

    def test_a_socket_beyond_loopback_is_said_loudly(self):
        daemon = self.start()
        self.assertFalse(any("ANYBODY" in line for line in daemon.log))
        with subprocess.Popen([INGOTD, "--listen=0.0.0.0:0", "--metrics-listen=", "--socket="], stderr=subprocess.PIPE,
                              text=True) as open_one:
            self.assertRegex(open_one.stderr.readline(), r"warning .*ANYBODY who reaches 0\.0\.0\.0:\d+ can read and")
            wait_until(lambda: "serving" in open_one.stderr.readline(), "it serves")
            open_one.send_signal(signal.SIGTERM)
            self.assertEqual(open_one.wait(WATCHDOG_S), 0)


if __name__ == "__main__":
    unittest.main()
