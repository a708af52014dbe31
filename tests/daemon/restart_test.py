"""A real daemon whose processes are killed under load: each restarts as a new incarnation and catches up; in the end
all replicas agree, and no acknowledged write is lost."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.request

from ingot_daemon import (INGOTCTL, PATIENCE, WATCHDOG_S, Daemon, Load, alive, ctl, outage_of, run_ctl, wait_until,
                          with_role)


def kill(*processes):
    for process in processes:
        assert process["pid"] > 0, process  # 0 would be this test itself
        os.kill(process["pid"], signal.SIGKILL)


def all_back(daemon, incarnations):
    """Waits until every replica is up in its expected incarnation and has applied everything."""

    def back():
        replicas = daemon.status()["replicas"]
        return all(r["state"] == "up" and r["incarnation"] == incarnations[r["id"]] and r["lag"] == 0 for r in replicas)

    wait_until(back, f"all are up, in lives {incarnations}, and have applied everything")


def proposed_slots(daemon, replica):
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        text = answer.read().decode()
    return float(re.search(rf'^ingot_proposed_slots_total{{replica="{replica}"}} (\S+)$', text, re.M)[1])


def memory_of(pid):
    """The memfds that a process holds, by descriptors and mappings: (inode, name)."""
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            link, inode = os.readlink(f"/proc/{pid}/fd/{fd}"), os.stat(f"/proc/{pid}/fd/{fd}").st_ino
        except OSError:  # closed in between
            continue
        if link.startswith("/memfd:"):
            found.add((inode, link.removeprefix("/memfd:").removesuffix(" (deleted)")))
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            words = line.split()
            if len(words) > 5 and words[5].startswith("/memfd:"):
                found.add((int(words[4]), words[5].removeprefix("/memfd:")))
    return found


class Restart(unittest.TestCase):
    def under_load(self, trouble, *flags, duration="2s"):
        """Calls `trouble`, which kills replicas and returns the expected incarnation of each."""
        with Daemon(*flags) as daemon:
            load = Load(daemon, f"--duration={duration}", "--keys=200", "--read-share=0.3")
            load.wait_until_under_way()
            incarnations = trouble(daemon)
            report = load.require_held()
            all_back(daemon, incarnations)
            daemon.equal_digests()
            print(f"{self.id().rsplit('.', 1)[1]} {flags}: {outage_of(report)}")

    def test_each_replica_in_turn(self):
        def one_by_one(daemon):
            incarnations = {id: 1 for id in range(3)}
            for victim in range(3):
                kill(daemon.status()["replicas"][victim])
                incarnations[victim] = 2
                all_up = lambda: all(r["state"] == "up" and r["incarnation"] == incarnations[r["id"]]
                                     for r in daemon.status()["replicas"])
                wait_until(all_up, f"replica {victim} is up in its second life")
            return incarnations

        for flags in (("--transport=nvp",), ("--transport=srbp",), ("--agreement=multipaxos",)):
            with self.subTest(flags):
                self.under_load(one_by_one, *flags)

    def test_the_leader_ten_times(self):
        def again_and_again(daemon):
            incarnations = {id: 1 for id in range(3)}
            for _ in range(10):
                victim = with_role(daemon, "leader")
                kill(victim)
                incarnations[victim["id"]] += 1
                wait_until(lambda: daemon.status()["replicas"][victim["id"]]["incarnation"] == incarnations[victim["id"]],
                           "its next life begins")
            return incarnations

        self.under_load(again_and_again, duration="3s")

    def test_leader_and_acceptor_of_three(self):
        def both(daemon):
            victims = [with_role(daemon, "leader"), with_role(daemon, "acceptor")]
            kill(*victims)
            return {id: 2 if id in [v["id"] for v in victims] else 1 for id in range(3)}

        self.under_load(both)

    def test_old_segments_and_snapshots_are_released(self):
        name = f"let-go-{os.getpid()}"
        with Daemon(f"--name={name}") as daemon:
            pids = {r["id"]: r["pid"] for r in daemon.status()["replicas"]}
            [front_end] = daemon.children()["@front-end"]
            [first] = {inode for inode, what in memory_of(pids[0]) if what == f"{name}-stable-1"}
            for incarnation in range(2, 8):  # more incarnations than are kept, so the first one no longer counts
                kill(daemon.status()["replicas"][1])
                all_back(daemon, {0: 1, 1: incarnation, 2: 1})
            for pid in (pids[0], pids[2], front_end):
                wait_until(lambda: first not in {inode for inode, _ in memory_of(pid)}, "the first life's segment is gone")

            def snapshots(pid):
                return {inode for inode, what in memory_of(pid) if what == "ingot-snapshot"}

            def write_until_all_have_others(pids, than):
                def all_have():
                    code, report = daemon.load("--duration=1s", "--clients=8", "--value-bytes=4000")
                    self.assertEqual(code, 0, report)
                    return all(snapshots(pid) and not snapshots(pid) & than for pid in pids)
                wait_until(all_have, "a newer snapshot is kept in place of the older")

            write_until_all_have_others([pids[0]], set())
            started_with = snapshots(daemon.process.pid)
            kill(daemon.status()["replicas"][1])
            all_back(daemon, {0: 1, 1: 8, 2: 1})
            back = daemon.status()["replicas"][1]["pid"]
            write_until_all_have_others([back, front_end], started_with)

    def test_an_idle_group_takes_restarted_replicas_back(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "a", "1")
            kill(with_role(daemon, "leader"))
            wait_until(lambda: sorted(r["incarnation"] for r in daemon.status()["replicas"]) == [1, 1, 2],
                       "the leader's next life begins")
            wait_until(lambda: all(r["state"] == "up" and r["lag"] == 0 for r in daemon.status()["replicas"]),
                       "all are up and have applied everything")
            self.assertIn("1", ctl(daemon.endpoint, "get", "a"))

    def test_a_counter_of_a_restarted_replica_does_not_double(self):
        """Regression: the next incarnation went on from its predecessor's number, which metrics then added to it."""
        with Daemon() as daemon:
            before = 0
            while before < 200:  # the leader may just have changed
                code, report = daemon.load("--count=300", "--clients=1", "--read-share=0")
                self.assertEqual(code, 0, report)
                leader = with_role(daemon, "leader")
                before = proposed_slots(daemon, leader["id"])
            incarnations = {r["id"]: r["incarnation"] for r in daemon.status()["replicas"]}
            incarnations[leader["id"]] += 1
            kill(leader)
            all_back(daemon, incarnations)
            after = proposed_slots(daemon, leader["id"])
            self.assertGreaterEqual(after, before)
            self.assertLess(after, 1.5 * before)

    def test_the_front_end_comes_back_on_the_same_ports(self):
        for flags in ((), ("--isolation=thread",)):
            with self.subTest(flags), Daemon(*flags) as daemon:
                ctl(daemon.endpoint, "put", "a", "1")
                [front_end] = daemon.children()["@front-end"]
                os.kill(front_end, signal.SIGKILL)
                end = time.monotonic() + WATCHDOG_S
                while run_ctl(daemon.endpoint, "put", "a", "2", "--timeout=20s").returncode != 0:
                    self.assertLess(time.monotonic(), end, "the front end did not come back")
                self.assertIn("2", ctl(daemon.endpoint, "get", "a"))
                self.assertNotEqual(daemon.children()["@front-end"], [front_end])

    def test_a_put_that_a_client_repeats_after_the_front_ends_death_is_a_second_write(self):
        """docs/etcd.md: the first one's outcome is unknown to the client, and it may be carried out. It is here: the
        coordinator has proposed it, and lacks a participant's vote only."""
        with Daemon("--agreement=2pc", "--tree=star") as daemon:
            ctl(daemon.endpoint, "put", "other", "0")
            replicas = daemon.status()["replicas"]
            coordinator = with_role(daemon, "leader")["id"]
            participant = replicas[(coordinator + 1) % 3]["pid"]
            os.kill(participant, signal.SIGSTOP)
            put = subprocess.Popen([INGOTCTL, f"--endpoint={daemon.endpoint}", "put", "k", "v", PATIENCE])
            try:
                proposed = lambda: daemon.status()["replicas"][coordinator]["proposed"]
                wait_until(lambda: proposed() > replicas[coordinator]["proposed"], "the put is proposed")
                os.kill(daemon.children()["@front-end"][0], signal.SIGKILL)
                self.assertEqual(put.wait(WATCHDOG_S), 1)
            finally:
                os.kill(participant, signal.SIGCONT)
                put.kill()
                put.wait()

            def pair():
                got = run_ctl(daemon.endpoint, "get", "k", "-o", "json")
                return (json.loads(got.stdout)["kvs"] if got.returncode == 0 else []) or [None]

            wait_until(lambda: pair()[0], "the put whose answer was lost is carried out")
            first = pair()[0]
            self.assertEqual((first["value"], first["version"]), ("v", 1))
            ctl(daemon.endpoint, "put", "k", "v")
            second = pair()[0]
            self.assertEqual((second["value"], second["version"]), ("v", 2))
            self.assertGreater(second["mod_revision"], first["mod_revision"])

    def spare(self, daemon, *known):
        """The pid of the standby process, which becomes the next incarnation."""
        found = []

        def waits():
            found[:] = [pid for pid in daemon.children().get("@standby", []) if pid not in known]
            return found

        wait_until(waits, f"a process waits for a next life, other than {known}")
        return found[0]

    def next_incarnation(self, daemon):
        """Kills a replica, and waits until it is up again; returns its new pid."""
        victim = with_role(daemon, "replica")
        kill(victim)

        def back():
            now = daemon.status()["replicas"][victim["id"]]
            return now["state"] == "up" and now["incarnation"] == victim["incarnation"] + 1

        wait_until(back, "its next life is up")
        return daemon.status()["replicas"][victim["id"]]["pid"]

    def test_a_standby_process_waits_and_may_die_or_stop_itself(self):
        with Daemon() as daemon:
            first = self.spare(daemon)
            self.assertEqual(self.next_incarnation(daemon), first)
            self.assertIn(first, daemon.children()["@replica"])
            second = self.spare(daemon, first)
            os.kill(second, signal.SIGSTOP)
            wait_until(lambda: not alive(second), "what is stopped is of no use")
            self.assertNotIn(self.next_incarnation(daemon), (first, second))
            third = self.spare(daemon, second)
            os.kill(third, signal.SIGKILL)
            wait_until(lambda: not alive(third), "it is reaped")
            self.assertNotEqual(self.next_incarnation(daemon), third)
            ctl(daemon.endpoint, "put", "a", "1")
            daemon.equal_digests()


if __name__ == "__main__":
    unittest.main()
