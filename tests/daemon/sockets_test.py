"""The sockets of an instance: connections wait out a front end's restart, and both sockets outlive the supervisor."""

import os
import signal
import socket
import stat
import subprocess
import threading
import unittest

from ingot_daemon import INGOTD, RUNTIME, WATCHDOG_S, alive, ctl, processes_below, run_ctl, signal_all, wait_until
from socket_case import DRILL, SocketCase, port_of


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


def refused(*flags):
    """Runs an ingotd that cannot start as asked; returns its sentence."""
    done = subprocess.run([INGOTD, "--metrics-listen=", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=WATCHDOG_S)
    assert done.returncode == 2, f"{flags}: exit code {done.returncode}, {done.stderr!r}"
    lines = done.stderr.splitlines()
    assert len(lines) == 1, f"one sentence expected: {done.stderr!r}"
    return lines[0]


class Sockets(SocketCase):
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
        wait_until(lambda: not alive(front_end), "the front end that drained has ended; it takes no new calls")
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


if __name__ == "__main__":
    unittest.main()
