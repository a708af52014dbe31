"""A backup of a real daemon: it is taken while writes go on, survives the death of everything, and a new instance
begins with it. A save that is broken in the middle leaves nothing, and the next one works."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import unittest

from ingot_daemon import (INGOTCTL, INGOTD, WATCHDOG_S, Daemon, ctl, processes_below, run_ctl, send_signal,
                          stop_process, wait_until)

# Far more than a client that has been stopped can have under way.
STATE_FOR_SLOW_CLIENTS = ("--count=8000", "--clients=8", "--keys=8000", "--value-bytes=8000", "--read-share=0")
SLOW_CLIENT_BYTES_MAX = 32 << 20


def save(daemon, path, *flags):
    return json.loads(ctl(daemon.endpoint, "snapshot", "save", path, "-o", "json", *flags))


def kill_all(daemon):
    """The supervisor first, so that nothing of it is started again."""
    below = processes_below(daemon.process.pid)
    daemon.process.kill()
    daemon.process.wait(WATCHDOG_S)
    for pid in below:
        send_signal(pid, signal.SIGKILL)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below), "everything is dead")


class Writer:
    """Puts numbered keys one after the other; each acknowledged one is noted with its revision."""

    def __init__(self, endpoint, prefix):
        self.acknowledged = {}  # number: revision
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(endpoint, prefix))
        self.thread.start()

    def _run(self, endpoint, prefix):
        number = 0
        while not self.ends.is_set():
            done = run_ctl(endpoint, "put", f"{prefix}{number:06}", str(number), "-o", "json")
            if done.returncode == 0:
                self.acknowledged[number] = json.loads(done.stdout)["revision"]
            number += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join(WATCHDOG_S)


def keys_of(daemon):
    """The keys with a prefix and their revisions."""
    answer = json.loads(ctl(daemon.endpoint, "get", "--prefix", "w", "-o", "json"))
    return {int(each["key"][1:]): each["mod_revision"] for each in answer["kvs"]}


class Backup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="backup-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "state.snap")

    def saved_under_writes(self, *flags):
        """Saves while a writer runs, then kills everything. Returns what was acknowledged before the save, and what it
        said."""
        with Daemon(*flags) as daemon, Writer(daemon.endpoint, "w") as writer:
            wait_until(lambda: len(writer.acknowledged) > 20, "writes go on")
            before = dict(writer.acknowledged)
            said = save(daemon, self.path)
            wait_until(lambda: len(writer.acknowledged) > len(before) + 20, "writes went on")
            kill_all(daemon)
        return before, said

    def test_what_was_acknowledged_before_the_save_is_there_after_a_restore(self):
        for agreement in ("1paxos", "multipaxos", "2pc"):
            with self.subTest(agreement):
                self.path = os.path.join(self.folder, f"{agreement}.snap")
                before, said = self.saved_under_writes(f"--agreement={agreement}")
                self.assertEqual(said["file"], self.path)
                self.assertGreaterEqual(said["revision"], max(before.values()))
                with Daemon(f"--agreement={agreement}", f"--restore={self.path}") as restored:
                    found = keys_of(restored)
                    for number, revision in before.items():
                        self.assertEqual(found[number], revision)
                    self.assertEqual(len(found), said["keys"])
                    put = json.loads(ctl(restored.endpoint, "put", "after", "x", "-o", "json"))
                    self.assertEqual(put["revision"], said["revision"] + 1)
                    restored.equal_digests()
                    if agreement != "2pc":  # which waits for ever for a replica that has died
                        self.all_replicas_die(restored, found)

    def all_replicas_die(self, daemon, found):
        """Before any other snapshot is published: the group has nothing but the backup and its log since."""
        replicas = daemon.status()["replicas"]
        incarnations = {r["id"]: r["incarnation"] for r in replicas}
        for replica in replicas:
            send_signal(replica["pid"], signal.SIGKILL)
        wait_until(lambda: all(r["incarnation"] > incarnations[r["id"]] and r["state"] == "up"
                               for r in daemon.status()["replicas"]), "all are started again")
        daemon.require_service()
        self.assertEqual(keys_of(daemon), found)
        self.assertIn("x", ctl(daemon.endpoint, "get", "after"))
        second = save(daemon, self.path + ".second")
        self.assertGreater(second["revision"], 1)
        for replica in daemon.status()["replicas"]:
            send_signal(replica["pid"], signal.SIGKILL)
        daemon.require_service()
        self.assertEqual(keys_of(daemon), found)
        daemon.equal_digests()

    def test_revisions_are_bumped_and_what_was_skipped_is_compacted(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "k", "v")
            said = save(daemon, self.path)
        with Daemon(f"--restore={self.path}", "--bump-revision=1000", "--mark-compacted") as restored:
            put = json.loads(ctl(restored.endpoint, "put", "k", "w", "-o", "json"))
            self.assertEqual(put["revision"], said["revision"] + 1001)
            refused = run_ctl(restored.endpoint, "get", "k", f"--rev={said['revision']}")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("compacted", refused.stderr)

    def test_a_supervisor_with_the_restore_of_its_instance_attaches_to_the_newer_state(self):
        """It was refused; then the instance left after --orphan-grace, and the next try began with the old file."""
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "k", "v")
            save(daemon, self.path)
        name = f"--name=backup-{os.getpid()}"
        flags = (name, "--orphan-grace=200s", f"--restore={self.path}", "--bump-revision=1000", "--mark-compacted")
        with Daemon(*flags) as first:
            ctl(first.endpoint, "put", "newer", "x")
            first.process.kill()
            first.process.wait(WATCHDOG_S)
            other = self.refused(name, f"--restore={self.path}", "--bump-revision=1001", "--mark-compacted")
            self.assertIn("runs without a supervisor and still has its state", other)
            with Daemon(*flags) as second:
                self.assertIn("x", ctl(second.endpoint, "get", "newer"))
                self.assertEqual(sum("--restore is passed over" in line for line in second.log), 1)

    def test_a_restore_needs_a_whole_file_and_a_new_instance(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "k", "v")
            save(daemon, self.path)
            done = run_ctl("127.0.0.1:1", "snapshot", "restore", self.path)  # as etcdctl has it
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"start ingotd --restore={self.path}", done.stderr)
            name = daemon.status()["name"]
            listen = daemon.endpoint
            orphans = processes_below(daemon.process.pid)
            daemon.process.kill()  # the others go on without a supervisor
            daemon.process.wait(WATCHDOG_S)
            attached = self.refused(f"--listen={listen}", f"--restore={self.path}")
            self.assertIn(f"\"{name}\" runs without a supervisor and still has its state", attached)
            for pid in orphans:
                send_signal(pid, signal.SIGKILL)
        with open(self.path, "r+b") as file:
            file.seek(300)
            file.write(b"x")
        self.assertIn("its checksum is wrong", self.refused(f"--restore={self.path}"))
        self.assertIn("No such file", self.refused("--restore=/nowhere/state.snap"))
        ignores = ("/bin/sh", "-c", "trap '' CHLD; exec \"$@\"", "sh")  # then a failed restore was a success
        self.assertIn("No such file", self.refused("--restore=/nowhere/state.snap", prefix=ignores))
        self.assertIn("give --restore=FILE", self.refused("--bump-revision=5", "--mark-compacted"))
        self.assertIn("go together", self.refused(f"--restore={self.path}", "--bump-revision=5"))
        done = run_ctl("127.0.0.1:1", "snapshot", "status", self.path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("its checksum is wrong", done.stderr)

    def refused(self, *flags, prefix=()):
        words = [*prefix, INGOTD, "--metrics-listen=127.0.0.1:0", *flags]
        if not any(flag.startswith("--listen") for flag in flags):
            words.append("--listen=127.0.0.1:0")
        done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_a_file_is_replaced_only_if_that_is_asked_for(self):
        with Daemon() as daemon:
            save(daemon, self.path)
            refused = run_ctl(daemon.endpoint, "snapshot", "save", self.path)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("exists; choose another name, or give --overwrite", refused.stderr)
            ctl(daemon.endpoint, "put", "k", "v")
            self.assertEqual(save(daemon, self.path, "--overwrite")["keys"], 1)
            self.assertEqual(os.listdir(self.folder), ["state.snap"])
            self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    def test_an_instance_that_began_anew_does_not_replace_the_backup_of_the_lost_one(self):
        with Daemon() as daemon:
            for value in "abc":
                ctl(daemon.endpoint, "put", "k", value)
            lost = save(daemon, self.path)
            kill_all(daemon)
        with open(self.path, "rb") as file:
            before = file.read()
        with Daemon() as daemon:
            refused = run_ctl(daemon.endpoint, "snapshot", "save", self.path, "--overwrite")
            self.assertEqual(refused.returncode, 2)
            self.assertEqual(refused.stderr.count("\n"), 1, refused.stderr)
            self.assertIn("is the backup of another cluster", refused.stderr)
            with open(self.path, "rb") as file:
                self.assertEqual(file.read(), before)
            for value in "abcd":
                ctl(daemon.endpoint, "put", "k", value)
            self.assertGreater(save(daemon, self.path, "--overwrite")["revision"], lost["revision"])
            self.assertEqual(os.listdir(self.folder), ["state.snap"])

    def test_a_save_outlives_the_leader_and_not_the_front_end(self):
        with Daemon() as daemon:
            daemon.load(*STATE_FOR_SLOW_CLIENTS)
            whole = save(daemon, self.path)
            part = self.begin_slowly(daemon, "leader.snap")
            ctl(daemon.endpoint, "drill", "kill", "leader")
            send_signal(part.pid, signal.SIGCONT)
            self.assertEqual(part.wait(WATCHDOG_S), 0, part.stderr.read())
            part.stderr.close()
            self.assertGreaterEqual(os.stat(os.path.join(self.folder, "leader.snap")).st_size, whole["bytes"])

            part = self.begin_slowly(daemon, "front-end.snap")
            ctl(daemon.endpoint, "drill", "kill", "front-end")
            daemon.require_service()
            send_signal(part.pid, signal.SIGCONT)
            self.assertEqual(part.wait(WATCHDOG_S), 1)
            self.assertEqual(part.stderr.read().count("\n"), 1)
            part.stderr.close()
            self.assertEqual(sorted(os.listdir(self.folder)), ["leader.snap", "state.snap"])
            self.assertGreaterEqual(save(daemon, self.path, "--overwrite")["revision"], whole["revision"])

    def test_a_client_that_does_not_read_holds_up_nobody_but_its_own_address(self):
        with Daemon() as daemon:
            daemon.load(*STATE_FOR_SLOW_CLIENTS)
            slow, refused = self.slow_one_and_another(daemon)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("a snapshot is being sent to", refused.stderr)
            daemon.require_service()
            daemon.equal_digests()
            self.end(slow)
            wait_until(lambda: run_ctl(daemon.endpoint, "snapshot", "save", self.path).returncode == 0,
                       "the place is free again")

    def slow_one_and_another(self, daemon):
        """A save that does not read, and how another one ended beside it. A busy server may have ended the slow one
        meanwhile, or a new front end may have come; then the other one is right to succeed, and both begin again."""
        while True:
            slow = self.begin_slowly(daemon, "slow.snap")
            other = run_ctl(daemon.endpoint, "snapshot", "save", self.path)
            if other.returncode != 0:
                return slow, other
            send_signal(slow.pid, signal.SIGCONT)
            self.assertNotEqual(slow.wait(WATCHDOG_S), 0, "another save succeeded beside one that was being sent")
            slow.stderr.close()
            os.remove(self.path)

    @staticmethod
    def end(save):
        save.kill()
        save.wait(WATCHDOG_S)
        save.stderr.close()

    def begin_slowly(self, daemon, name):
        """A save that is stopped while the server has most of the file before it: what sockets and HTTP/2's windows take
        is far less. One that is further is ended, and another one begun."""
        while True:
            process = subprocess.Popen([INGOTCTL, f"--endpoint={daemon.endpoint}", "--timeout=100s", "snapshot", "save",
                                        os.path.join(self.folder, name)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            wait_until(lambda: process.poll() is not None or self.bytes_saved(process) > 0, "the save has begun")
            stop_process(process.pid)
            if process.poll() is None and 0 < self.bytes_saved(process) < SLOW_CLIENT_BYTES_MAX:
                return process
            self.end(process)
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))

    def bytes_saved(self, process):
        """The file has no name yet, where the file system allows that."""
        folder = f"/proc/{process.pid}/fd"
        for fd in os.listdir(folder) if os.path.exists(folder) else ():
            try:
                if os.readlink(f"{folder}/{fd}").startswith(self.folder + "/"):
                    return os.stat(f"{folder}/{fd}").st_size
            except OSError:
                pass  # it was closed meanwhile
        return 0


if __name__ == "__main__":
    unittest.main()
