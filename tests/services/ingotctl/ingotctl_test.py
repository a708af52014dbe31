"""ingotctl against a real daemon: its output for scripts and for people."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

from tests.daemon.ingot_daemon import INGOTCTL, PATIENCE, WATCHDOG_S, Daemon, wait_until

STATUS_KEYS = ["name", "agreement", "transport", "backend", "isolation", "replicas", "store"]
REPLICA_KEYS = ["id", "pid", "incarnation", "state", "core", "voter", "role", "epoch", "ballot", "proposed", "decided",
                "applied", "lag"]


def run(*words, stdin=None, environment=None):
    """(exit code, standard output, standard error)."""
    done = subprocess.run([INGOTCTL, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=WATCHDOG_S, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class WithDaemon(unittest.TestCase):
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(*cls.flags))

    def ctl(self, *words, stdin=None):
        code, output, error = run(f"--endpoint={self.daemon.endpoint}", PATIENCE, *words, stdin=stdin)
        self.assertEqual((code, error), (0, ""), words)
        return output

    def json(self, *words, **arguments):
        return json.loads(self.ctl(*words, "-o", "json", **arguments))

    def refused(self, *words):
        """Fails with exit code 1 and one sentence."""
        code, output, error = run(f"--endpoint={self.daemon.endpoint}", PATIENCE, *words)
        self.assertEqual((code, output), (1, ""))
        self.assertRegex(error, r"\Aingotctl: [^\n]+\n\Z")
        return error


class StatusTest(WithDaemon):
    flags = ("--replicas=4", "--voters=3")

    def test_status_has_exactly_the_keys_that_scripts_rely_on(self):
        status = self.json("status")
        self.assertEqual(list(status), STATUS_KEYS)
        self.assertEqual([status[key] for key in STATUS_KEYS[1:5]], ["1paxos", "nvp", "shm", "process"])
        for number, replica in enumerate(status["replicas"]):
            self.assertEqual(list(replica), REPLICA_KEYS)
            self.assertEqual((replica["id"], replica["state"], replica["incarnation"]), (number, "up", 1))
            self.assertEqual(replica["voter"], number < 3)
            self.assertTrue(os.path.exists(f"/proc/{replica['pid']}"))
        # Other tests have written: a replica that was silent for too long on a busy machine is being replaced.
        wait_until(lambda: sorted(replica["role"] for replica in self.json("status")["replicas"]) ==
                   ["acceptor", "leader", "replica", "replica"], "each role has one holder")

    def test_progress_is_that_of_the_requests(self):
        before = self.json("status")["replicas"][0]
        for number in range(5):
            self.ctl("put", "progress", str(number))
        wait_until(lambda: self.json("status")["replicas"][0]["applied"] >= before["applied"] + 5,
                   "all five are applied")
        after = self.json("status")["replicas"][0]
        self.assertGreaterEqual(after["decided"], after["applied"])

    def test_digests_are_equal_at_equal_slots(self):
        self.ctl("put", "digest", "x")
        replicas = self.json("status", "--digest")["replicas"]
        self.assertEqual(list(replicas[0]), REPLICA_KEYS + ["digest", "digest_slot"])
        for replica in replicas:
            self.assertRegex(replica["digest"], r"\A[0-9a-f]{16}\Z")
        by_slot = {}
        for replica in replicas:
            by_slot.setdefault(replica["digest_slot"], set()).add(replica["digest"])
        for slot, digests in by_slot.items():
            self.assertEqual(len(digests), 1, f"slot {slot}")

    def test_the_table_has_a_row_for_each_replica_and_a_line_for_the_store(self):
        lines = self.ctl("status").splitlines()
        self.assertIn("1paxos over nvp", lines[0])
        self.assertEqual(lines[1].split()[:4], ["ID", "PID", "STATE", "ROLE"])
        self.assertEqual([line.split()[0] for line in lines[2:]], ["0", "1", "2", "3", "store:"])
        self.assertRegex(lines[-1], r"^store: \S+ \w+ of \S+ \w+: \S+ \w+ live, \S+ \w+ history$")
        self.assertGreaterEqual(self.json("status")["store"]["quota_bytes"], 16 * 1024 * 1024)

    def test_alarms_are_listed_and_disarmed(self):
        self.assertEqual(self.ctl("alarm", "list"), "no alarm\n")
        self.assertEqual(self.ctl("alarm", "disarm"), "no alarm to disarm\n")
        self.assertEqual(self.json("alarm", "list"), {"alarms": []})
        self.assertEqual(self.json("alarm", "disarm"), {"alarms": []})

    def test_topology_places_every_process_on_a_core_of_the_machine(self):
        topology = self.json("topology")
        cores = {core["id"] for core in topology["cores"]}
        threads = {thread for core in topology["cores"] for thread in core["hardware_threads"]}
        self.assertTrue(os.sched_getaffinity(0) <= threads)
        self.assertEqual([place["process"] for place in topology["placement"]],
                         ["replica 0", "replica 1", "replica 2", "replica 3", "front end"])
        for place in topology["placement"]:
            self.assertIn(place["core"], cores)
        self.assertIn("replica 3", self.ctl("topology"))


class KeysTest(WithDaemon):
    def setUp(self):
        self.ctl("del", "", "--prefix")

    def keys(self, *words):
        return [kv["key"] for kv in self.json("get", *words)["kvs"]]

    def test_get_shows_what_put_wrote(self):
        revision = self.json("put", "greeting", "hello")["revision"]
        self.assertEqual(self.json("get", "greeting"), {
            "revision": revision, "count": 1, "more": False,
            "kvs": [{"key": "greeting", "create_revision": revision, "mod_revision": revision, "version": 1,
                     "lease": 0, "value": "hello"}]})
        self.assertIn("hello", self.ctl("get", "greeting"))
        self.assertEqual(self.keys("nothing"), [])

    def test_put_takes_any_bytes_from_standard_input(self):
        self.json("put", "bytes", stdin=b"\x00\xff\n")
        self.assertEqual(self.json("get", "bytes")["kvs"][0]["value_base64"], "AP8K")
        self.assertIn(r"\x00\xff\n", self.ctl("get", "bytes"))

    def test_put_shows_what_was_there_before(self):
        self.assertIsNone(self.json("put", "k", "1", "--prev-kv")["prev_kv"])
        self.assertEqual(self.json("put", "k", "2", "--prev-kv")["prev_kv"]["value"], "1")

    def start(self, *words, **options):
        return subprocess.Popen([INGOTCTL, f"--endpoint={self.daemon.endpoint}", PATIENCE, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def ended(self, process, code):
        output, error = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, code, error)
        return output, error

    def test_lock_until_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            holder = self.start("lock", "job", "-o", "json")
            held = json.loads(holder.stdout.readline())
            self.assertEqual(held["key"], f"job/{held['lease'].lstrip('0')}")
            waits = self.start("lock", "job")
            wait_until(lambda: len(self.keys("job/", "--prefix")) == 2, "the second one waits")
            holder.send_signal(number)
            self.ended(holder, 0)
            self.assertTrue(waits.stdout.readline().startswith("job/"))
            waits.send_signal(number)
            self.ended(waits, 0)
            self.assertEqual(self.keys("job/", "--prefix"), [])
            self.assertEqual(self.json("lease", "list"), {"leases": []})

    def test_a_lock_that_is_waited_for_in_vain_leaves_nothing(self):
        holder = self.start("lock", "job")
        holder.stdout.readline()
        waits = self.start("lock", "job")
        wait_until(lambda: len(self.keys("job/", "--prefix")) == 2, "the second one waits")
        waits.send_signal(signal.SIGINT)
        self.assertIn("interrupted", self.ended(waits, 1)[1])
        wait_until(lambda: len(self.keys("job/", "--prefix")) == 1, "its key goes")
        holder.send_signal(signal.SIGINT)
        self.ended(holder, 0)

    def test_lock_for_a_command(self):
        shell = 'echo "$ETCD_LOCK_KEY $ETCD_LOCK_REV $1"; exit 7'
        output, error = self.ended(self.start("lock", "job", "--", "sh", "-c", shell, "sh", "--flag"), 7)
        self.assertRegex(output, r"\Ajob/[0-9a-f]+ [0-9]+ --flag\n\Z")
        self.assertEqual(error, "")
        self.ended(self.start("lock", "job", "--", "true"), 0)
        self.ended(self.start("lock", "job", "--", "sh", "-c", "kill -9 $$"), 128 + 9)
        output, error = self.ended(self.start("lock", "job", "--", "no-such-program"), 2)
        self.assertIn("cannot run 'no-such-program'", error)
        self.assertEqual(self.keys("job/", "--prefix"), [])
        script = "trap 'exit 3' TERM; echo up; while :; do sleep 0.1; done"
        command = self.start("lock", "job", "--", "sh", "-c", script)
        self.assertEqual(command.stdout.readline(), "up\n")
        command.terminate()  # it passes this on
        self.ended(command, 3)
        self.assertEqual(self.keys("job/", "--prefix"), [])

    # Regression: a command that failed was a success to a program that ignores the end of its children.
    def test_lock_for_a_command_where_the_end_of_children_is_ignored(self):
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.ended(self.start("lock", "job", "--", "sh", "-c", "exit 7", preexec_fn=ignore), 7)

    # Regression: who had come before the leader's last value was never shown as its successor.
    def test_observe_shows_a_successor_that_is_older_than_the_last_value(self):
        observer = self.start("elect", "--observe", "post")
        first = self.start("elect", "post", "one")
        key = first.stdout.readline()
        self.assertEqual([observer.stdout.readline() for _ in range(2)], [key, "one\n"])
        second = self.start("elect", "post", "two")
        wait_until(lambda: len(self.keys("post/", "--prefix")) == 2, "the second one waits")
        self.ctl("put", key.strip(), "one again", "--lease=" + key.strip().rpartition("/")[2])
        self.assertEqual([observer.stdout.readline() for _ in range(2)], [key, "one again\n"])
        first.send_signal(signal.SIGINT)
        self.ended(first, 0)
        successor = second.stdout.readline()
        self.assertEqual([observer.stdout.readline() for _ in range(2)], [successor, "two\n"])
        for process in (second, observer):
            process.send_signal(signal.SIGINT)
        self.ended(second, 0)
        observer.communicate(timeout=WATCHDOG_S)

    def test_elect_and_observe(self):
        observer = self.start("elect", "--observe", "post")
        first = self.start("elect", "post", "one")
        key = first.stdout.readline()
        self.assertEqual(first.stdout.readline(), "one\n")
        self.assertEqual([observer.stdout.readline() for _ in range(2)], [key, "one\n"])
        second = self.start("elect", "post", "two", "-o", "json")
        wait_until(lambda: len(self.keys("post/", "--prefix")) == 2, "the second one waits")
        first.send_signal(signal.SIGINT)
        self.ended(first, 0)
        leader = json.loads(second.stdout.readline())
        self.assertEqual(leader["value"], "two")
        self.assertEqual([observer.stdout.readline() for _ in range(2)], [leader["key"] + "\n", "two\n"])
        for process in (second, observer):
            process.send_signal(signal.SIGINT)
        self.ended(second, 0)
        observer.communicate(timeout=WATCHDOG_S)
        self.assertEqual(self.keys("post/", "--prefix"), [])
        for words in (["elect", "post"], ["elect", "--observe", "post", "x"], ["lock"]):
            self.assertEqual(run(*words)[0], 2, words)

    def test_leases(self):
        lease = self.json("lease", "grant", "90s", "--id=2a")
        self.assertEqual(lease, {"id": "000000000000002a", "ttl": 90})
        for key in ("leased/b", "leased/a"):
            self.ctl("put", key, "x", "--lease=2a")
        shown = self.json("lease", "ttl", "2a", "--keys")
        self.assertEqual((shown["granted_ttl"], shown["keys"]), (90, ["leased/a", "leased/b"]))
        self.assertIn("left of 90 s, and 2 keys", self.ctl("lease", "ttl", "2a", "--keys"))
        self.assertEqual(self.json("lease", "list"), {"leases": ["000000000000002a"]})
        self.assertEqual(self.json("lease", "keep-alive", "2a", "--once"), lease)
        revision = self.json("lease", "revoke", "2a")["revision"]
        self.assertEqual(self.json("get", "leased/", "--prefix")["revision"], revision)
        self.assertEqual(self.keys("leased/", "--prefix"), [])
        self.assertIn("0 leases", self.ctl("lease", "list"))

    def test_ranges(self):
        for key in ("a/1", "a/2", "b", "c"):
            self.ctl("put", key, key)
        self.assertEqual(self.keys("a/", "--prefix"), ["a/1", "a/2"])
        self.assertEqual(self.keys("", "--prefix"), ["a/1", "a/2", "b", "c"])
        self.assertEqual(self.keys("a/2", "--from-key"), ["a/2", "b", "c"])
        self.assertEqual(self.keys("a/2", "--range-end=c"), ["a/2", "b"])
        limited = self.json("get", "", "--from-key", "--limit=3")
        self.assertEqual(([kv["key"] for kv in limited["kvs"]], limited["count"], limited["more"]),
                         (["a/1", "a/2", "b"], 4, True))
        self.assertEqual(self.json("get", "", "--from-key", "--count-only")["count"], 4)
        self.assertEqual(self.keys("", "--from-key", "--count-only"), [])
        self.assertNotIn("value", self.json("get", "b", "--keys-only")["kvs"][0])
        self.assertEqual(self.keys("b", "--serializable"), ["b"])

    def test_an_old_revision_is_still_there(self):
        revision = self.json("put", "k", "old")["revision"]
        self.ctl("put", "k", "new")
        self.assertEqual(self.json("get", "k", f"--rev={revision}")["kvs"][0]["value"], "old")

    def test_del_says_how_many_and_what(self):
        for key in ("a/1", "a/2", "b"):
            self.ctl("put", key, key)
        deleted = self.json("del", "a/", "--prefix", "--prev-kv")
        self.assertEqual((deleted["deleted"], [kv["value"] for kv in deleted["prev_kvs"]]), (2, ["a/1", "a/2"]))
        self.assertIn("0 keys deleted", self.ctl("del", "a/1"))
        self.assertEqual(self.keys("", "--prefix"), ["b"])

    def test_what_the_daemon_refuses_is_a_sentence_and_exit_code_1(self):
        self.assertIn("etcdserver: key is not provided", self.refused("put", "", "v"))
        self.assertIn("future revision", self.refused("get", "k", "--rev=1000000"))


class UnwritableOutputTest(WithDaemon):
    """Regression: without room for its output ingotctl ended with 0, and watch-status went on for ever."""

    def unwritable(self, *words, output):
        done = subprocess.run([INGOTCTL, f"--endpoint={self.daemon.endpoint}", PATIENCE, *words], stdout=output,
                              stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        self.assertEqual(done.returncode, 1, words)
        self.assertRegex(done.stderr, r"\Aingotctl: standard output did not take all of the output(: [^\n]+)?\n\Z")
        return done.stderr

    def test_output_that_a_full_disk_does_not_take_is_exit_code_1(self):
        for words in (["status"], ["status", "-o", "json"], ["topology"], ["put", "k", "v"], ["get", "k"], ["del", "k"],
                      ["watch-status", "--interval=100ms"], ["watch-status", "-o", "json", "--interval=1h"],
                      ["watch-status", "--count=1"], ["machine", "derive", "--scc"], ["--version"], ["get", "--help"]):
            with self.subTest(words), open("/dev/full", "w") as full:
                error = self.unwritable(*words, output=full)
                if words == ["status"]:  # others may be longer than a buffer, or are flushed before
                    self.assertIn("No space left on device", error)

    def test_a_watch_whose_reader_has_left_ends(self):
        # Python has SIGPIPE ignored, and so has a child that inherits that; run() restores it by default.
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            done = subprocess.run([INGOTCTL, f"--endpoint={self.daemon.endpoint}", "watch-status", "--interval=100ms"],
                                  stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S,
                                  restore_signals=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output did not take all of the output: Broken pipe", done.stderr)


class UnreachableTest(unittest.TestCase):
    def test_a_missing_daemon_is_exit_code_1(self):
        for words in (["status"], ["topology"], ["watch-status"], ["watch", "k"], ["get", "k"], ["put", "k", "v"], ["del", "k"]):
            code, output, error = run("--endpoint=127.0.0.1:1", *words)
            self.assertEqual((code, output), (1, ""), words)
            self.assertRegex(error, r"\Aingotctl: cannot reach a daemon at 127\.0\.0\.1:1; [^\n]+\n\Z")

    def test_the_environment_names_the_endpoint_and_a_flag_goes_before_it(self):
        environment = {"INGOT_ENDPOINT": "127.0.0.1:1"}
        self.assertIn("127.0.0.1:1;", run("status", environment=environment)[2])
        self.assertIn("127.0.0.1:2;", run("status", "--endpoint=127.0.0.1:2", environment=environment)[2])

    def test_a_wrong_command_line_is_exit_code_2(self):
        for words in ([], ["stauts"], ["status", "--digets"], ["get"], ["get", "k", "--limit=-1"],
                      ["get", "k", "--prefix", "--from-key"], ["status", "-o", "xml"], ["status", "--timeout=5"],
                      ["status", "--endpoint=nowhere"]):
            code, output, error = run(*words)
            self.assertEqual((code, output), (2, ""), words)
            self.assertRegex(error, r"\Aingotctl: [^\n]+\n\Z")

    def test_help_has_examples(self):
        for command in ("status", "topology", "watch-status", "watch", "get", "put", "del", "drill", "move"):
            code, output, _ = run(command, "--help")
            self.assertEqual(code, 0)
            self.assertIn(f"  ingotctl {command}", output)


class WatchKeysTest(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(Daemon())

    def put(self, key, value):
        code, output, error = run(f"--endpoint={self.daemon.endpoint}", PATIENCE, "put", key, value, "-o", "json")
        self.assertEqual((code, error), (0, ""))
        return json.loads(output)["revision"]

    def watch(self, *words, patience=PATIENCE):
        watch = subprocess.Popen([INGOTCTL, f"--endpoint={self.daemon.endpoint}", patience, "watch", *words],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.stderr.close)
        self.addCleanup(watch.wait, WATCHDOG_S)
        self.addCleanup(watch.kill)
        return watch

    def test_a_line_for_each_change(self):
        first = self.put("a/1", "before")
        watch = self.watch("a/", "--prefix", "--prev-kv", "--count=3")
        self.assertEqual(watch.stdout.readline(), f"watching from revision {first + 1}\n")
        self.put("a/1", "x")
        self.put("b", "not watched")
        self.put("a/2", "y")
        run(f"--endpoint={self.daemon.endpoint}", PATIENCE, "del", "a/1")
        output, error = watch.communicate(timeout=WATCHDOG_S)
        self.assertEqual(error, "")
        self.assertEqual(output, f"{first + 1} put a/1 = x; before: before\n{first + 3} put a/2 = y\n"
                                 f"{first + 4} delete a/1; before: x\n")
        self.assertEqual(watch.returncode, 0)

    def test_an_object_for_each_change_from_a_past_revision(self):
        first = self.put("k", "1")
        second = self.put("k", "2")
        watch = self.watch("k", f"--rev={first}", "--count=2", "--prev-kv", "-o", "json")
        output, _ = watch.communicate(timeout=WATCHDOG_S)
        key = lambda revision, version, value: {"key": "k", "create_revision": first, "mod_revision": revision,
                                                "version": version, "lease": 0, "value": value}
        self.assertEqual([json.loads(line) for line in output.splitlines()], [
            {"type": "watching", "revision": first},
            {"type": "put", "revision": first, "kv": key(first, 1, "1"), "prev_kv": None},
            {"type": "put", "revision": second, "kv": key(second, 2, "2"), "prev_kv": key(first, 1, "1")}])

    def test_it_goes_on_with_the_next_front_end_and_misses_nothing(self):
        watch = self.watch("", "--from-key", "--count=3")
        begin = int(watch.stdout.readline().split()[-1])
        self.put("k", "0")
        self.assertEqual(watch.stdout.readline(), f"{begin} put k = 0\n")
        os.kill(watch.pid, signal.SIGSTOP)  # so that it does not watch again before the puts
        os.kill(self.daemon.children()["@front-end"][0], signal.SIGKILL)
        self.put("k", "1")
        self.put("k", "2")
        os.kill(watch.pid, signal.SIGCONT)
        output, error = watch.communicate(timeout=WATCHDOG_S)
        self.assertEqual((watch.returncode, error), (0, ""))
        self.assertEqual(output, f"watching from revision {begin + 1}\n{begin + 1} put k = 1\n{begin + 2} put k = 2\n")

    def test_what_ends_it_is_a_sentence(self):
        revision = self.put("k", "1")
        code, output, error = run(f"--endpoint={self.daemon.endpoint}", "watch", "k", "--range-end=a")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("the daemon has ended the watch: mvcc: watcher range is empty", error)
        watch = self.watch("k", patience="--timeout=1s")  # for which it waits for the next front end
        watch.stdout.readline()
        self.assertEqual(self.daemon.stop(), 0)
        _, error = watch.communicate(timeout=WATCHDOG_S)
        self.assertEqual(watch.returncode, 1)
        self.assertIn(f"has gone; go on with --rev={revision + 1}", error)


class WatchTest(unittest.TestCase):
    """Each test stops a replica, so each has its own daemon. (A dead one would be restarted too soon.)"""

    def setUp(self):
        self.daemon = self.enterContext(Daemon())

    def stop_learner(self):
        os.kill(self.daemon.status()["replicas"][2]["pid"], signal.SIGSTOP)

    def watch(self, *words, environment=None, **arguments):
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **(environment or {})}
        watch = subprocess.Popen([INGOTCTL, f"--endpoint={self.daemon.endpoint}", "watch-status", *words],
                                 env=environment, **arguments)
        self.addCleanup(watch.wait, WATCHDOG_S)
        self.addCleanup(watch.kill)
        return watch

    def drawn(self, *words, columns=80, rows=24, environment=None, until=None):
        """What a watch on a terminal of this size writes; stops a replica once something is there, if `until`, which then
        ends the watch, is given."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        watch = self.watch(*words, stdout=slave, environment=environment)
        os.close(slave)
        text = ""
        while until is None or until not in text:
            try:
                text += os.read(master, 65536).decode()
            except OSError:  # the watch has ended
                break
            if until is not None:
                self.stop_learner()
        watch.kill() if until is not None else self.assertEqual(watch.wait(WATCHDOG_S), 0)
        os.close(master)
        return text.replace("\r\n", "\n")

    def test_a_line_for_each_change(self):
        watch = self.watch("--interval=1h", stdout=subprocess.PIPE, text=True)
        self.assertEqual(watch.stdout.readline(), "leader 0  acceptor 1  epoch 1  ballot 1  decided 0  lag 0\n")
        self.stop_learner()
        self.assertTrue(any("replica 2 stopped" in line for line in watch.stdout), "the watch ended without a word of it")
        watch.stdout.close()

    def test_an_object_for_each_change_and_an_end_after_so_many(self):
        watch = self.watch("--interval=1h", "-o", "json", "--count=2", stdout=subprocess.PIPE, text=True)
        self.assertEqual([r["state"] for r in json.loads(watch.stdout.readline())["replicas"]], ["up", "up", "up"])
        self.stop_learner()
        self.assertEqual(json.loads(watch.stdout.readline())["replicas"][2]["state"], "stopped")
        self.assertEqual(watch.stdout.read(), "")
        self.assertEqual(watch.wait(WATCHDOG_S), 0)
        watch.stdout.close()

    def test_a_terminal_is_redrawn_and_the_change_stands_out(self):
        master, slave = pty.openpty()
        watch = self.watch("--count=2", "--interval=1h", stdout=slave)
        os.close(slave)
        drawn = os.read(master, 65536).decode()
        self.assertTrue(drawn.startswith("\x1b[H\x1b[J"), repr(drawn))
        self.stop_learner()
        while "stopped" not in drawn:
            drawn += os.read(master, 65536).decode()
        self.assertEqual(watch.wait(WATCHDOG_S), 0)
        os.close(master)
        self.assertRegex(drawn, re.compile(r"\x1b\[7m[^\x1b]* stopped "))

    def test_a_watch_of_an_idle_daemon_ends_after_its_count(self):
        watch = self.watch("--count=3", "--interval=100ms", stdout=subprocess.PIPE, text=True)
        output, _ = watch.communicate(timeout=WATCHDOG_S)
        self.assertEqual((watch.returncode, output.count("\n")), (0, 3), output)

    def test_a_small_terminal_gets_what_fits_and_no_line_wraps(self):
        for columns, rows in ((80, 24), (80, 6), (40, 10)):
            screens = self.drawn("--count=2", "--interval=100ms", columns=columns, rows=rows).split("\x1b[H\x1b[J")[1:]
            self.assertEqual(len(screens), 2)
            for screen in screens:
                lines = re.sub(r"\x1b\[\d*m", "", screen).splitlines()
                self.assertLess(len(lines), rows, screen)
                self.assertLessEqual(max(map(len, lines)), columns, screen)
                self.assertIn("ID", screen)

    def test_no_color_leaves_out_bold_and_reverse_video(self):
        drawn = self.drawn("--interval=100ms", environment={"NO_COLOR": "1"}, until="*  2")
        self.assertIn("\x1b[H\x1b[J", drawn)
        self.assertEqual(re.findall(r"\x1b\[\d*m", drawn), [])

    def test_a_dumb_terminal_gets_lines(self):
        for terminal in ("dumb", ""):
            drawn = self.drawn("--count=2", "--interval=100ms", environment={"TERM": terminal})
            self.assertNotIn("\x1b", drawn)
            self.assertRegex(drawn, r"\A(leader 0 .*\n){2}\Z")

    def test_the_watch_goes_on_with_the_next_front_end(self):
        watch = self.watch("--interval=1h", stdout=subprocess.PIPE, text=True)
        watch.stdout.readline()
        os.kill(self.daemon.children()["@front-end"][0], signal.SIGKILL)
        self.assertIn("leader 0", watch.stdout.readline())
        self.stop_learner()
        self.assertTrue(any("replica 2 stopped" in line for line in watch.stdout), "the watch ended without a word of it")
        watch.stdout.close()

    def test_the_watch_ends_with_the_daemon(self):
        watch = self.watch(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watch.stdout.readline()
        self.assertEqual(self.daemon.stop(), 0)
        output, error = watch.communicate(timeout=WATCHDOG_S)
        self.assertEqual(watch.returncode, 1)
        self.assertIn("the daemon is leaving", error)


if __name__ == "__main__":
    unittest.main()
