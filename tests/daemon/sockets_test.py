"""The sockets of an instance: connections wait out a front end's restart, both sockets outlive the supervisor, and over
the Unix socket the daemon knows who calls."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

from ingot_daemon import (INGOTCTL, INGOTD, PATIENCE, RUNTIME, WATCHDOG_S, Daemon, alive, ctl, processes_below, run_ctl,
                          signal_all, wait_until)

STRANGER = 61236  # a user that owns nothing
DRILL = ("drill", "kill", "replica=2")
DENIED = "is for the daemon's own user and root"
is_root = os.geteuid() == 0
needs_root = unittest.skipIf(not is_root, "only root can act as another user")


def port_of(daemon):
    return int(daemon.endpoint.rsplit(":", 1)[1])


def connect(daemon):
    """A TCP connection on which the daemon's side has spoken: HTTP/2 begins with a frame of settings."""
    connection = socket.create_connection(("127.0.0.1", port_of(daemon)), WATCHDOG_S)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    return connection


def connects(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
            return True
        except OSError:
            return False


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


def refused(*flags):
    """Runs an ingotd that cannot start as asked; returns its sentence."""
    done = subprocess.run([INGOTD, "--metrics-listen=", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=WATCHDOG_S)
    assert done.returncode == 2, f"{flags}: exit code {done.returncode}, {done.stderr!r}"
    lines = done.stderr.splitlines()
    assert len(lines) == 1, f"one sentence expected: {done.stderr!r}"
    return lines[0]


class Sockets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sockets-", dir=RUNTIME)
        os.chmod(self.folder, 0o755)
        os.chmod(RUNTIME, 0o755)  # other users reach what is in it
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *flags):
        daemon = Daemon(*flags)
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None)
        return daemon

    def front_end_of(self, daemon):
        return daemon.children()["@front-end"][0]

    # ---- One listening socket ----

    def test_connections_wait_while_a_front_end_starts_again(self):
        daemon = self.start("--front-end-timeout=0")
        # The standby process becomes the next front end; while it and the supervisor are stopped, there is none.
        front_end = self.front_end_of(daemon)
        daemon.process.send_signal(signal.SIGSTOP)
        os.kill(front_end, signal.SIGKILL)
        wait_until(lambda: not alive(front_end), "the front end is dead")
        waiting = [connect(daemon) for _ in range(20)]  # without a listener they would be refused
        put = threading.Thread(target=lambda: ctl(daemon.endpoint, "put", "while", "away"))
        put.start()
        daemon.process.send_signal(signal.SIGCONT)
        for each in waiting:
            self.assertEqual(each.recv(9)[3], 4)  # a frame of settings: the next front end has accepted it
            each.close()
        put.join(WATCHDOG_S)
        self.assertIn("away", ctl(daemon.endpoint, "get", "while"))

    def test_a_second_daemon_on_the_port_exits_with_2(self):
        daemon = self.start()
        self.assertIn(f"{daemon.endpoint} is in use", refused(f"--listen={daemon.endpoint}", "--name=other"))
        daemon.require_service()

    def test_an_orphaned_instance_keeps_its_port_also_without_a_front_end(self):
        daemon = self.start("--orphan-grace=200s")
        front_end = self.front_end_of(daemon)
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(WATCHDOG_S)
        os.kill(front_end, signal.SIGKILL)
        wait_until(lambda: not alive(front_end), "the front end is dead")
        self.assertIn("is in use", refused(f"--listen={daemon.endpoint}", "--name=other"))
        waiting = connect(daemon)
        name = f"ingot-{port_of(daemon)}"
        self.assertIn("runs without a supervisor, with --listen=", refused("--listen=127.0.0.1:1", f"--name={name}"))
        second = self.start(f"--name={name}", "--orphan-grace=200s")
        self.assertEqual(second.endpoint, daemon.endpoint)
        self.assertEqual(second.socket, daemon.socket)
        self.assertEqual(waiting.recv(9)[3], 4)
        waiting.close()
        second.require_service()
        self.assertEqual(second.stop(), 0)
        self.assertFalse(os.path.exists(daemon.socket))

    def test_an_instance_that_ends_refuses_connections_at_once(self):
        daemon = self.start()
        front_end = self.front_end_of(daemon)
        os.kill(front_end, signal.SIGSTOP)  # it cannot finish draining
        daemon.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not os.path.exists(daemon.socket), "the Unix socket's file is removed")
        with self.assertRaises(ConnectionRefusedError):
            connect(daemon)
        os.kill(front_end, signal.SIGCONT)
        self.assertEqual(daemon.process.wait(WATCHDOG_S), 0)

    def test_an_instance_that_was_killed_while_it_drained_is_taken_over_with_both_sockets(self):
        daemon = self.start("--orphan-grace=200s")
        ctl(daemon.endpoint, "put", "a", "1")
        front_end = self.front_end_of(daemon)
        os.kill(front_end, signal.SIGSTOP)
        daemon.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not os.path.exists(daemon.socket), "the Unix socket's file is removed")
        daemon.process.send_signal(signal.SIGKILL)  # continues the front end, which goes on draining and ends
        daemon.process.wait(WATCHDOG_S)
        second = self.start(f"--name=ingot-{port_of(daemon)}", "--orphan-grace=200s")
        self.assertEqual((second.endpoint, second.socket), (daemon.endpoint, daemon.socket))
        self.assertIn("1", ctl(second.endpoint, "get", "a"))
        self.assertIn("replicas", ctl(f"unix:{second.socket}", "status", "-o", "json"))

    # ---- The Unix socket's file ----

    def test_the_default_socket_has_its_rights_and_ends_with_the_instance(self):
        daemon = self.start()
        self.assertEqual(daemon.socket, f"{RUNTIME}/ingot/ingot-{port_of(daemon)}.sock")
        info = os.stat(daemon.socket)
        self.assertTrue(stat.S_ISSOCK(info.st_mode))
        self.assertEqual(stat.S_IMODE(info.st_mode), 0o660)
        ctl(f"unix:{daemon.socket}", "put", "by", "socket")
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(os.path.exists(daemon.socket))
        self.assertFalse(os.path.exists(daemon.socket + ".lock"))

    def test_a_file_that_was_removed_is_there_again_after_a_takeover(self):
        path = f"{self.folder}/new/a b.sock"  # the folder is made
        daemon = self.start(f"--socket={path}", "--orphan-grace=200s")
        self.assertEqual(daemon.socket, path)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o755)
        os.remove(path)
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(WATCHDOG_S)
        flags = (f"--socket={path}", "--orphan-grace=200s", f"--name=ingot-{port_of(daemon)}")
        second = self.start(*flags)
        # The front end of before has been told of the new socket.
        self.assertIn("replicas", ctl(f"unix:{path}", "status", "-o", "json"))
        second.process.send_signal(signal.SIGKILL)
        second.process.wait(WATCHDOG_S)
        third = self.start(*flags)
        self.assertIn(f"by process {third.process.pid} (ingotd", refused("--listen=127.0.0.1:0", f"--socket={path}"))
        ctl(f"unix:{path}", "put", "third", "time")
        self.assertEqual(third.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_orphans_that_leave_remove_the_file(self):
        daemon = self.start("--orphan-grace=0")
        below = processes_below(daemon.process.pid)
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait(WATCHDOG_S)
        wait_until(lambda: not any(alive(pid) for pid in below), "the orphans leave")
        self.assertFalse(os.path.exists(daemon.socket))

    def test_a_dead_instances_file_is_replaced_and_a_living_ones_is_not(self):
        path = f"{self.folder}/a.sock"
        first = self.start(f"--socket={path}")
        sentence = refused("--listen=127.0.0.1:0", f"--socket={path}")
        self.assertIn(f"{path} is in use by process {first.process.pid} (ingotd", sentence)
        self.assertTrue(connects(path))
        everybody = [first.process.pid, *processes_below(first.process.pid)]
        signal_all(everybody, signal.SIGKILL)
        first.process.wait(WATCHDOG_S)
        wait_until(lambda: not any(alive(pid) for pid in everybody), "all have died")
        self.assertTrue(os.path.exists(path))
        second = self.start(f"--socket={path}")
        ctl(f"unix:{path}", "put", "a", "1")
        self.assertEqual(second.stop(), 0)

    def test_of_daemons_that_race_for_a_path_one_wins(self):
        path = f"{self.folder}/a.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        command = [INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=", f"--socket={path}"]
        racers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        lines = []

        def read(racer):
            lines.append((racer, next(line for line in racer.stderr if "serving" in line or "in use" in line)))

        readers = [threading.Thread(target=read, args=(racer,)) for racer in racers]
        for each in readers:
            each.start()
        for each in readers:
            each.join(WATCHDOG_S)
        winners = [racer for racer, line in lines if "serving" in line]
        losers = [racer for racer, line in lines if "is in use by process" in line]
        self.assertEqual((len(winners), len(losers)), (1, 3), lines)
        self.assertEqual([racer.wait(WATCHDOG_S) for racer in losers], [2, 2, 2])
        self.assertTrue(connects(path))
        winners[0].send_signal(signal.SIGTERM)
        self.assertEqual(winners[0].wait(WATCHDOG_S), 0)
        for racer in racers:
            racer.stderr.close()
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_is_no_socket_is_never_replaced(self):
        file, link = f"{self.folder}/file", f"{self.folder}/link"
        with open(file, "w") as out:
            out.write("precious")
        os.symlink(file, link)
        for path in (file, link, self.folder):
            self.assertIn("is no socket", refused("--listen=127.0.0.1:0", f"--socket={path}"))
        with open(file) as text:
            self.assertEqual(text.read(), "precious")
        self.assertIn("108 bytes", refused("--listen=127.0.0.1:0", "--socket=/" + "x" * 107))
        self.assertIn("absolute path", refused("--listen=127.0.0.1:0", "--socket=a.sock"))
        self.assertIn("no such group", refused("--listen=127.0.0.1:0", "--socket-group=no-such-group"))
        self.assertIn("0660", refused("--listen=127.0.0.1:0", "--socket-mode=777"))

    def test_without_a_socket_the_daemon_serves_by_tcp(self):
        daemon = self.start("--socket=")
        self.assertIsNone(daemon.socket)
        daemon.require_service()
        denied = run_ctl(daemon.endpoint, *DRILL)
        self.assertEqual(denied.returncode, 1)
        self.assertIn("which it lacks: start ingotd with --socket=PATH", denied.stderr)

    # ---- Who calls ----

    def test_the_daemons_own_user_drills_by_the_socket_and_not_by_tcp(self):
        daemon = self.start()
        ctl(daemon.endpoint, *DRILL)
        ctl(f"unix:{daemon.socket}", "move", "leader", "--to=1", "--timeout=100s")
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
        line = next(line for line in daemon.stderr if "serving" in line)
        endpoint = f"unix:{path}/a.sock"
        self.assertIn(endpoint[5:], line)
        reader = threading.Thread(target=daemon.stderr.read)
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
