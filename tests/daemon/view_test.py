"""A view of an instance: begun, read in place by other processes, and made anew whatever becomes of its publisher."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from ingot_daemon import INGOTCTL, INGOTD, RUNTIME, WATCHDOG_S, Daemon, ctl, run_ctl, signal_all, wait_until

READER = "tests/daemon/view_reader"
STRANGER = 65533
is_root = os.geteuid() == 0


def view_socket(daemon):
    return daemon.socket.removesuffix(".sock") + ".view.sock"


def publishers(daemon):
    return daemon.children().get("@view", [])


def view(daemon):
    return json.loads(ctl(daemon.endpoint, "view", "-o", "json"))


def shown(daemon, *words):
    return json.loads(ctl(daemon.endpoint, "get", "--view", *words, "-o", "json"))


def values(answer):
    return {kv["key"]: kv["value"] for kv in answer["kvs"]}


def change(watch):
    event = json.loads(watch.stdout.readline())
    return event["type"], event["kv"]["key"]


class Reader:
    """A process that reads key "n" in place, again and again, and ends when it sees what cannot be."""

    def __init__(self, daemon):
        self.process = subprocess.Popen([READER, view_socket(daemon)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.seen = -1
        self.faults = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            word, number = line.split()
            if word == "seen":
                self.seen = int(number)
            else:
                self.faults.append(line)

    def wait_for(self, number):
        wait_until(lambda: self.seen >= number or self.process.poll() is not None, f"the reader sees {number}")
        if self.seen < number:
            raise AssertionError(f"the reader ended at {self.seen}: {self.faults}")

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(WATCHDOG_S)
        self.thread.join(WATCHDOG_S)
        self.process.stdout.close()
        if code != 0 or self.faults:
            raise AssertionError(f"the reader ended with {code}: {self.faults}")


class View(unittest.TestCase):
    def put(self, daemon, number):
        ctl(daemon.endpoint, "put", "n", str(number))

    def test_nothing_is_started_until_a_reader_comes_and_then_it_sees_every_write_that_was_answered(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "config/a", "1")
            ctl(daemon.endpoint, "put", "config/b", "2")
            ctl(daemon.endpoint, "put", "other", "3")
            self.assertEqual(publishers(daemon), [])
            answer = shown(daemon, "config/", "--prefix")
            self.assertEqual(values(answer), {"config/a": "1", "config/b": "2"})
            self.assertEqual(len(publishers(daemon)), 1)
            self.assertEqual(values(shown(daemon, "other")), {"other": "3"})
            self.assertEqual(shown(daemon, "", "--from-key", "--count-only")["count"], 3)
            ctl(daemon.endpoint, "del", "other")
            wait_until(lambda: shown(daemon, "other")["count"] == 0, "the view shows the deletion")
            state = view(daemon)
            self.assertEqual((state["state"], state["publisher"], state["why"]), ("live", "alive", "first"))
            self.assertEqual((state["generation"], state["keys"]), (1, 2))
            wait_until(lambda: view(daemon)["age_ms"] is not None, "the view's age is known")
            where = view_socket(daemon)
        self.assertFalse(os.path.exists(where))

    def test_always_begins_at_the_start_and_off_has_no_socket(self):
        with Daemon("--view=always", "--isolation=thread") as daemon:
            wait_until(lambda: publishers(daemon), "the publisher runs")
            ctl(daemon.endpoint, "put", "a", "1")
            wait_until(lambda: values(shown(daemon, "a")) == {"a": "1"}, "the view shows the write")
        with Daemon("--view=off") as daemon:
            self.assertFalse(os.path.exists(view_socket(daemon)))
            self.assertIn("--view=off has no view socket", run_ctl(daemon.endpoint, "get", "--view", "a").stderr)

    def test_a_write_ends_once_the_view_shows_it_and_a_watch_follows_the_view_over_publishers(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "config/a", "1", "--view")
            self.assertEqual(values(shown(daemon, "config/a")), {"config/a": "1"})
            with subprocess.Popen([INGOTCTL, f"--endpoint={daemon.endpoint}", "watch", "config/", "--prefix", "--view",
                                   "--count=4", "-o", "json"], stdout=subprocess.PIPE, text=True) as watch:
                self.assertEqual(json.loads(watch.stdout.readline())["type"], "watching")
                ctl(daemon.endpoint, "put", "other", "0")
                ctl(daemon.endpoint, "put", "config/b", "2")
                self.assertEqual(change(watch), ("put", "config/b"))
                ctl(daemon.endpoint, "del", "config/a", "--view")
                self.assertEqual(shown(daemon, "config/a")["count"], 0)
                self.assertEqual(change(watch), ("delete", "config/a"))
                os.kill(publishers(daemon)[0], signal.SIGKILL)
                ctl(daemon.endpoint, "put", "config/c", "3")
                self.assertEqual(change(watch), ("put", "config/c"))
                ctl(daemon.endpoint, "del", "config/b")
                self.assertEqual(change(watch), ("delete", "config/b"))
                self.assertEqual(watch.wait(WATCHDOG_S), 0)
        with Daemon("--view=off") as daemon:
            for words in (["put", "k", "v"], ["del", "k"], ["watch", "k"]):
                self.assertIn("--view=off has no view socket", run_ctl(daemon.endpoint, *words, "--view").stderr)
            self.assertEqual(json.loads(ctl(daemon.endpoint, "get", "k", "-o", "json"))["count"], 0)

    def test_the_simulated_chip_and_unknown_users_are_refused_with_a_sentence(self):
        for flags, sentence in (
                (("--backend=scc", "--view=always"), "the simulated chip has no memory that other processes could"),
                (("--view-users=nobody-of-that-name",), "there is no user nobody-of-that-name"),
                (("--view-groups=0,none-of-that-name",), "there is no group none-of-that-name"),
                (("--view=always", "--socket="), "--view=always needs the instance's Unix socket")):
            done = subprocess.run([INGOTD, "--listen=127.0.0.1:0", "--metrics-listen=", *flags], text=True,
                                  stderr=subprocess.PIPE, timeout=WATCHDOG_S)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(sentence, done.stderr)

    def test_a_reader_goes_on_over_publishers_that_are_killed_or_stopped(self):
        with Daemon() as daemon:
            self.put(daemon, 0)
            reader = Reader(daemon)
            reader.wait_for(0)
            for number in range(1, 4):
                [publisher] = publishers(daemon)
                os.kill(publisher, signal.SIGKILL)
                wait_until(lambda: publishers(daemon) not in ([], [publisher]), "the next publisher runs")
                self.put(daemon, number)
                reader.wait_for(number)
            self.assertEqual(view(daemon)["why"], "died")
            [publisher] = publishers(daemon)
            os.kill(publisher, signal.SIGSTOP)
            self.put(daemon, 10)
            wait_until(lambda: publishers(daemon) not in ([], [publisher]), "the stopped publisher was replaced")
            reader.wait_for(10)
            self.assertTrue(any("has answered nothing for" in line for line in daemon.log), daemon.log)
            reader.end()

    def test_a_reader_goes_on_while_supervisors_and_replicas_die(self):
        name = f"view-{os.getpid()}"
        with Daemon(f"--name={name}") as daemon:
            self.put(daemon, 0)
            reader = Reader(daemon)
            reader.wait_for(0)
            before = publishers(daemon)
            orphans = [pid for pids in daemon.children().values() for pid in pids]
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(WATCHDOG_S)
            self.put(daemon, 1)  # there is no supervisor
            reader.wait_for(1)
            try:
                with Daemon(f"--name={name}") as second:
                    self.assertTrue(any("attached to" in line for line in second.log), second.log)
                    self.assertTrue(all(os.path.exists(f"/proc/{pid}") for pid in before), second.log)
                    os.kill(before[0], signal.SIGKILL)
                    self.put(second, 2)
                    reader.wait_for(2)
                    leader = next(r for r in second.status()["replicas"] if r["role"] == "leader")
                    os.kill(leader["pid"], signal.SIGKILL)
                    self.put(second, 3)
                    reader.wait_for(3)
                    reader.end()
            finally:
                signal_all(orphans, signal.SIGKILL)

    def test_generations_that_fill_up_are_replaced_while_they_are_read(self):
        with Daemon() as daemon:
            self.put(daemon, 0)
            reader = Reader(daemon)
            reader.wait_for(0)
            first = view(daemon)
            for number in range(1, 25):
                done = subprocess.run([INGOTCTL, f"--endpoint={daemon.endpoint}", "put",
                                       f"large/{number}"], input="x" * 1_000_000, text=True, timeout=WATCHDOG_S,
                                      stdout=subprocess.PIPE)
                self.assertEqual(done.returncode, 0)
            self.put(daemon, 1)
            reader.wait_for(1)
            wait_until(lambda: view(daemon)["generation"] > first["generation"], "a larger generation is current")
            last = view(daemon)
            self.assertGreater(last["bytes"], first["bytes"])
            self.put(daemon, 2)
            reader.wait_for(2)
            reader.end()

    @unittest.skipUnless(is_root, "only root can connect as another user")
    def test_another_user_is_refused_unless_he_is_named(self):
        def ask(path):
            done = subprocess.run([reader, path, "once"], user=STRANGER, group=STRANGER, extra_groups=[],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
            return done.stdout

        os.chmod(RUNTIME, 0o755)
        reader = shutil.copy(READER, RUNTIME + "/view_reader")  # the folder of the tests may be root's alone
        with Daemon() as daemon:
            self.put(daemon, 7)
            self.assertEqual(ask(view_socket(daemon)), "refused 7\n")  # PERMISSION_DENIED, by the file's rights
        with Daemon("--view-users=65532") as daemon:
            self.put(daemon, 7)
            self.assertEqual(ask(view_socket(daemon)), "refused 7\n")
        for flag in (f"--view-users=daemon,{STRANGER}", f"--view-groups={STRANGER}"):
            with Daemon(flag) as daemon:
                self.put(daemon, 7)
                self.assertEqual(ask(view_socket(daemon)), "seen 7\n")

    def test_strangers_on_the_view_socket_cost_others_nothing(self):
        with Daemon() as daemon:
            self.put(daemon, 0)
            reader = Reader(daemon)
            reader.wait_for(0)
            [publisher] = publishers(daemon)
            kept = []
            for i in range(400):  # of one user, more than his share
                client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                client.connect(view_socket(daemon))
                if i % 4 == 0:
                    kept.append(client)
                    continue
                try:
                    if i % 4 == 1:
                        client.send(os.urandom(5000))
                    elif i % 4 == 2:
                        socket.send_fds(client, [b"\x01"], [client.fileno()] * 3)
                except OSError:
                    pass  # refused by the kernel, or closed by the publisher
                client.close()
            self.put(daemon, 1)
            reader.wait_for(1)
            self.assertEqual(publishers(daemon), [publisher])
            for client in kept:
                client.close()
            reader.end()
            before = len(os.listdir(f"/proc/{publisher}/fd"))
            wait_until(lambda: view(daemon)["publisher"] == "alive" and
                       len(os.listdir(f"/proc/{publisher}/fd")) < 60, f"connections are closed ({before})")


if __name__ == "__main__":
    unittest.main()
