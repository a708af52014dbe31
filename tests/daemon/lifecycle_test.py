"""The daemon's life cycle: it starts, refuses to start, drains, dies, and leaves nothing behind."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock

from ingot_daemon import (INGOTD, WATCHDOG_S, Daemon, alive, cpu_seconds, ctl, keeps_memory, processes_below,
                          signal_all, wait_until)


def shared_files():
    """Files of this instance only: other programs create and remove theirs."""
    return {name for name in os.listdir("/dev/shm") if "ingot" in name}


def refused(*flags, environment=None):
    """Runs ingotd with flags that it must refuse; returns its one line on standard error."""
    before = shared_files()
    done = subprocess.run([INGOTD, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=WATCHDOG_S, env={**os.environ, **(environment or {})})
    assert done.returncode == 2, f"{flags}: exit code {done.returncode}, {done.stderr!r}"
    assert done.stdout == "", done.stdout
    assert shared_files() == before
    lines = done.stderr.splitlines()
    assert len(lines) == 1, f"one sentence expected: {done.stderr!r}"
    return lines[0]


class BadInput(unittest.TestCase):
    FREE = ("--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0")

    def check(self, flags, *words, environment=None):
        line = refused(*flags, environment=environment)
        for word in words:
            self.assertIn(word, line)

    def test_unknown_flag_names_the_nearest(self):
        self.check(("--replica=3",), "--replica", "--replicas")

    def test_counts_out_of_range(self):
        self.check(("--replicas=49", *self.FREE), "--replicas=49", "1 to 48")
        self.check(("--replicas=0", *self.FREE), "1 to 48")
        self.check(("--replicas=three",), "--replicas")
        self.check(("--replicas=9", "--voters=8", *self.FREE), "--voters=8", "1 to 7")
        self.check(("--replicas=3", "--voters=4", *self.FREE), "--voters=4", "1 to 3")

    def test_unknown_words(self):
        self.check(("--agreement=raft",), "raft", "1paxos")
        self.check(("--transport=tcp",), "tcp", "nvp")
        self.check(("--isolation=vm",), "vm", "process")
        self.check(("--orphan-grace=30",), "--orphan-grace", "20s")
        self.check(("--name=" + "x" * 91, *self.FREE), "--name", "90 bytes")
        self.check(("--etcd-version=banana", *self.FREE), "--etcd-version", "3.6.0")
        self.check(("--fence", "--isolation=thread", *self.FREE), "--fence", "--isolation=thread")
        self.check(("--backend=gpu",), "gpu", "shm")

    def test_a_name_with_control_characters_broke_the_log_and_the_labels(self):
        self.check(("--name=a\nb", *self.FREE), "--name", "a\\nb", "printable")
        self.check(("--name=\x1b[2J", *self.FREE), "--name", "printable")
        self.check(("--name=a/b", *self.FREE), "--name", "'/'")
        self.check((b"--name=\xff", *self.FREE), "--name", "printable")

    def test_a_machine_file_without_end_hung(self):
        self.check(("--machine=/dev/zero", *self.FREE), "--machine=/dev/zero", "not a regular file")
        self.check(("--machine=/tmp", *self.FREE), "--machine=/tmp", "not a regular file")
        self.check(("--machine=/no/such", *self.FREE), "--machine=/no/such", "No such file")
        with tempfile.TemporaryDirectory() as folder:
            pipe = folder + "/pipe"
            os.mkfifo(pipe)
            self.check((f"--machine={pipe}", *self.FREE), pipe, "not a regular file")
            self.check(("--backend=scc", f"--scc-replay={pipe}"), pipe, "not a regular file")
            long = folder + "/long"
            with open(long, "wb") as file:
                file.truncate(1 << 40)
            self.check((f"--machine={long}", *self.FREE), long, "more than", "bytes")

    def test_fencing_was_accepted_without_an_acceptor_to_fence(self):
        self.check(("--fence", "--agreement=2pc", *self.FREE), "--fence", "--agreement=2pc")
        self.check(("--fence", "--agreement=multipaxos", *self.FREE), "--fence", "--agreement=multipaxos")

    def test_a_role_by_hand_was_taken_for_one_of_the_supervisor(self):
        for role in ("@standby", "@replica", "@replicas", "@front-end", "@foo", "@"):
            for more in ((), ("0",), ("7",), ("0", "1")):
                self.check((role, *more), role + ": words with @ are roles of processes that ingotd starts itself",
                           "ingotd --help")

    def test_empty_variables_count_as_empty_flags(self):
        self.check((), "INGOT_LISTEN", "HOST:PORT", environment={"INGOT_LISTEN": ""})
        self.check((), "INGOT_REPLICAS", "1 to 48", environment={"INGOT_REPLICAS": ""})

    def test_environment_is_checked_like_flags(self):
        self.check((), "1paxos", environment={"INGOT_AGREEMENT": "raft"})

    def test_addresses(self):
        self.check(("--listen=nonsense",), "--listen", "HOST:PORT")
        self.check(("--listen=127.0.0.1:99999",), "--listen")
        self.check(("--listen=192.0.2.1:1", "--metrics-listen=127.0.0.1:0"), "192.0.2.1:1")

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.check((f"--listen=127.0.0.1:{port}", "--metrics-listen=127.0.0.1:0"), str(port), "--listen")
            self.check((f"--metrics-listen=127.0.0.1:{port}", "--listen=127.0.0.1:0"), str(port), "--metrics-listen")

    def test_name_in_use(self):
        name = f"taken-{os.getpid()}"
        with Daemon(f"--name={name}"):
            self.check((f"--name={name}", *self.FREE), name, "--name")


class NoMetrics(unittest.TestCase):
    def test_an_empty_variable_opened_the_default_port(self):
        """Neither the empty flag nor the empty variable opens a port."""
        for flags, variable in ((["--metrics-listen="], None), (["--metrics-listen", ""], None), ([], "")):
            environment = dict(os.environ)
            if variable is not None:
                environment["INGOT_METRICS_LISTEN"] = variable
            process = subprocess.Popen([INGOTD, "--listen=127.0.0.1:0", f"--name=quiet-{os.getpid()}", *flags],
                                       stderr=subprocess.PIPE, text=True, env=environment)
            try:
                lines = []
                while not lines or "serving" not in lines[-1]:
                    lines.append(process.stderr.readline())
                    self.assertTrue(lines[-1], lines)
                self.assertIn("metrics off", lines[-1])
            finally:
                process.terminate()
                process.wait(WATCHDOG_S)
                process.stderr.close()


class LifeAndDeath(unittest.TestCase):
    def test_sigterm_drains_and_exits_0(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "a", "1")
            wait_until(lambda: sum(len(pids) for pids in daemon.children().values()) == 5,
                       "there are the replicas, the front end, and the process that waits for a next life")
            children = processes_below(daemon.process.pid)
            self.assertEqual(sum(keeps_memory(pid) for pid in children), 3)
            self.assertEqual(daemon.stop(signal.SIGTERM), 0)
            self.assertFalse(any(alive(pid) for pid in children))

    def test_interrupt_of_the_whole_group_exits_0(self):
        with Daemon() as daemon:
            signal_all(processes_below(daemon.process.pid), signal.SIGINT)
            self.assertEqual(daemon.stop(signal.SIGINT), 0)

    def test_sigkill_leaves_no_process_and_no_file(self):
        for isolation in ("process", "thread"):
            before = shared_files()
            with Daemon(f"--isolation={isolation}", "--orphan-grace=0") as daemon:
                ctl(daemon.endpoint, "put", "a", "1")
                children = processes_below(daemon.process.pid)
                daemon.stop(signal.SIGKILL)
                wait_until(lambda: not any(alive(pid) for pid in children), "children leave when the supervisor dies")
                self.assertEqual(shared_files(), before)

    def test_sigkill_takes_stopped_children_along(self):
        with Daemon("--orphan-grace=0") as daemon:
            children = processes_below(daemon.process.pid)
            os.kill(daemon.children()["@replica"][2], signal.SIGSTOP)
            daemon.stop(signal.SIGKILL)
            wait_until(lambda: not any(alive(pid) for pid in children), "a stopped child leaves, too")

    def test_a_stopped_replica_is_shown_and_catches_up(self):
        with Daemon() as daemon:
            victim = [r for r in daemon.status()["replicas"] if r["role"] == "replica"][0]
            os.kill(victim["pid"], signal.SIGSTOP)
            wait_until(lambda: daemon.status()["replicas"][victim["id"]]["state"] == "stopped", "status says stopped")
            code, report = daemon.load("--duration=2s", "--clients=8")
            self.assertEqual(code, 0, report)
            os.kill(victim["pid"], signal.SIGCONT)
            daemon.equal_digests()

    def test_death_of_replicas_that_are_threads_of_one_process_ends_the_instance_with_an_error(self):
        with Daemon("--isolation=thread") as daemon:
            children = processes_below(daemon.process.pid)
            os.kill(daemon.children()["@replicas"][0], signal.SIGKILL)
            self.assertEqual(daemon.process.wait(WATCHDOG_S), 1)
            wait_until(lambda: not any(alive(pid) for pid in children), "the front end leaves")
            wait_until(lambda: any("the state is gone with it" in line for line in daemon.log), "it is said why")

    def test_roles_are_visible_in_the_process_list(self):
        with Daemon("--replicas=5") as daemon:
            expected = {"@front-end": 1, "@replica": 5, "@standby": 1}
            wait_until(lambda: {role: len(pids) for role, pids in daemon.children().items()} == expected,
                       f"the process list shows {expected}")


class Memory(unittest.TestCase):
    """What the C library and the kernel are asked for."""

    def tunables(self, daemon, role):
        """Without the colons: the C library puts zero bytes in their places when it reads them."""
        with open(f"/proc/{daemon.children()[role][0]}/environ") as file:
            return re.findall(r"glibc\.malloc\.\w+=\d+", file.read())

    def have_huge_pages(self, daemon):
        """Of each replica whether the kernel gives it huge pages."""
        words = []
        for pid in daemon.children()["@replica"]:
            with open(f"/proc/{pid}/status") as file:
                words += [line.split()[1] for line in file if line.startswith("THP_enabled:")]
        return words

    def test_freed_memory_is_kept_at_hand_and_a_small_state_has_no_huge_pages(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("GLIBC_TUNABLES", None)
            with Daemon() as daemon:
                count = "glibc.malloc.tcache_count=256"
                self.assertEqual(self.tunables(daemon, "@front-end"), [count])
                self.assertEqual(self.tunables(daemon, "@replica"), ["glibc.malloc.hugetlb=1", count])
                self.assertEqual(self.have_huge_pages(daemon), ["0", "0", "0"])

    def test_all_replicas_of_a_large_state_have_huge_pages_whoever_makes_its_snapshots(self):
        with Daemon() as daemon:
            code, report = daemon.load("--count=80", "--clients=4", "--keys=80", "--value-bytes=1000000",
                                       "--read-share=0")
            self.assertEqual(code, 0, report)
            wait_until(lambda: self.have_huge_pages(daemon) == ["1", "1", "1"], "all replicas have huge pages")

    def test_the_operators_own_setting_is_kept(self):
        with unittest.mock.patch.dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=9"), Daemon() as daemon:
            for role in ("@front-end", "@replica"):
                self.assertEqual(self.tunables(daemon, role), ["glibc.malloc.tcache_count=9"])


class Idle(unittest.TestCase):
    def test_an_idle_daemon_takes_less_than_one_percent_of_a_core(self):
        with Daemon() as daemon:
            code, report = daemon.load("--duration=1s", "--clients=4")
            self.assertEqual(code, 0, report)
            daemon.equal_digests()
            time.sleep(3)  # the front end stops checking for retries
            pids = [daemon.process.pid, *processes_below(daemon.process.pid)]
            share = 1
            for _ in range(10):  # activity that ended during one is over in the next
                used, started = cpu_seconds(pids), time.monotonic()
                time.sleep(10)
                share = (cpu_seconds(pids) - used) / (time.monotonic() - started)
                print(f"idle: {share:.3%} of one core")
                if share < 0.01:
                    break
            self.assertLess(share, 0.01)


if __name__ == "__main__":
    unittest.main()
