"""Drills and moves on a real daemon: targets, refusals, the group's reaction, and the messages when it cannot go on.
The daemon may restart a target, and no test needs it to stay dead. Nor need roles stay in place once a client has
written: on a busy machine a replica may be silent for so long that it is replaced."""

import json
import os
import re
import signal
import unittest
import urllib.request

from tests.daemon.ingot_daemon import Daemon, alive, ctl, run_ctl, signal_all, wait_until


class WithDaemon(unittest.TestCase):
    def start(self, *flags):
        return self.enterContext(Daemon(*flags))

    def json(self, daemon, *words):
        return json.loads(ctl(daemon.endpoint, *words, "-o", "json"))

    def refused(self, daemon, *words, code=1):
        """Fails with one sentence, and prints nothing else."""
        done = run_ctl(daemon.endpoint, *words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), (words, done.stderr))
        self.assertRegex(done.stderr, r"\Aingotctl: [^\n]+\n\Z")
        return done.stderr

    def holder(self, daemon, role):
        up = [r for r in daemon.status()["replicas"] if r["role"] == role and r["state"] == "up"]
        return max(up, key=lambda r: (r["epoch"], r["ballot"]))["id"] if up else None

    def state(self, daemon, replica):
        return daemon.status()["replicas"][replica]["state"]


def metrics(daemon, name):
    """The values of one metric, by its labels."""
    with urllib.request.urlopen(f"http://{daemon.metrics}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    found = [re.match(re.escape(name) + r"(?:\{(.*)\})? (\S+)", line) for line in lines]
    return {match[1]: float(match[2]) for match in found if match}


class DrillTest(WithDaemon):
    def test_the_leader_is_killed_and_the_outage_measured(self):
        daemon = self.start("--replicas=5")
        before = daemon.status()["replicas"]
        done = self.json(daemon, "drill", "kill", "leader", "--wait")
        victim = next(r for r in before if r["role"] == "leader")
        self.assertEqual(done["action"], "kill")
        self.assertEqual(done["hits"], [{"process": "replica", "id": victim["id"], "pid": victim["pid"],
                                         "incarnation": victim["incarnation"], "role": "leader"}])
        self.assertGreater(done["outage"]["gap_ms"], 0)
        self.assertGreaterEqual(done["outage"]["writes"], 1)
        self.assertFalse(alive(victim["pid"]))
        self.assertEqual(json.loads(ctl(daemon.endpoint, "get", "x", "-o", "json"))["revision"], 1,
                         "what measures adds no revision")
        self.assertRegex(ctl(daemon.endpoint, "drill", "kill", "acceptor", "--wait"),
                         r"\APROCESS .*\nreplica .* acceptor\nno write was committed for [0-9.]+ ms ")

    def test_a_stopped_replica_is_shown_as_stopped_and_goes_on(self):
        daemon = self.start()
        ctl(daemon.endpoint, "drill", "stop", "replica=2")
        wait_until(lambda: self.state(daemon, 2) == "stopped", "the status says stopped")
        self.assertIn("replica 2 is stopped already", self.refused(daemon, "drill", "stop", "replica=2"))
        self.assertRegex(self.refused(daemon, "drill", "cont", "leader"), "replica [01], the leader, is not stopped")
        ctl(daemon.endpoint, "drill", "cont", "replica=2")
        wait_until(lambda: self.state(daemon, 2) == "up", "the status says up")
        self.assertIn("there is no replica 3; replicas are 0 to 2", self.refused(daemon, "drill", "kill", "replica=3"))

    def test_a_stopped_leader_is_replaced_continued_and_does_no_harm(self):
        daemon = self.start()
        old = self.json(daemon, "drill", "stop", "leader", "--wait")["hits"][0]["id"]
        wait_until(lambda: self.holder(daemon, "leader") not in (None, old), "another one leads")
        self.assertGreater(sum(metrics(daemon, "ingot_doubts_total").values()), 0)
        wait_until(lambda: any(re.search(rf"replica {old} \(pid \d+\) was stopped", line) for line in daemon.log),
                   "the log says who is stopped")
        self.assertEqual(self.json(daemon, "drill", "cont", f"replica={old}")["hits"][0]["id"], old)
        wait_until(lambda: self.state(daemon, old) == "up", "the old one is up")
        wait_until(lambda: [r["role"] for r in daemon.status()["replicas"]].count("leader") == 1, "one leads")
        daemon.require_service()
        daemon.equal_digests()

    def test_front_end_and_supervisor(self):
        daemon = self.start()
        supervisor = self.json(daemon, "drill", "stop", "supervisor")["hits"][0]["pid"]
        self.assertEqual(supervisor, daemon.process.pid)
        ctl(daemon.endpoint, "put", "without", "supervisor")
        self.assertIn("the supervisor is stopped already", self.refused(daemon, "drill", "stop", "supervisor"))
        ctl(daemon.endpoint, "drill", "cont", "supervisor")
        hit = self.json(daemon, "drill", "stop", "front-end")["hits"][0]
        self.assertEqual((hit["process"], [hit["pid"]]), ("front-end", daemon.children()["@front-end"]))
        os.kill(hit["pid"], signal.SIGCONT)
        ctl(daemon.endpoint, "put", "with", "front end")
        self.assertIn("measure its own end", self.refused(daemon, "drill", "kill", "front-end", "--wait"))
        done = run_ctl(daemon.endpoint, "drill", "kill", "front-end", "-o", "json")
        if done.returncode == 0:
            self.assertEqual(json.loads(done.stdout)["hits"][0]["pid"], hit["pid"])
        else:  # its last message was in flight when it died
            self.assertIn("cannot reach", done.stderr)
        wait_until(lambda: not alive(hit["pid"]), "the front end is dead")

    def test_the_supervisor_is_killed(self):
        daemon = self.start()
        orphans = [pid for pids in daemon.children().values() for pid in pids]
        self.assertEqual(self.json(daemon, "drill", "kill", "supervisor")["hits"][0]["pid"], daemon.process.pid)
        self.assertEqual(daemon.process.wait(), -signal.SIGKILL)
        signal_all(orphans, signal.SIGKILL)  # the test does not wait for the end of their grace

    def test_threads_cannot_be_drilled(self):
        daemon = self.start("--isolation=thread")
        for target in ("leader", "both", "replica=1"):
            self.assertIn("threads of one process", self.refused(daemon, "drill", "kill", target))
        self.assertIn("replica 2 leads", ctl(daemon.endpoint, "move", "leader", "--to=2"))

    def test_wrong_words_are_refused(self):
        daemon = self.start("--agreement=multipaxos")
        for words in (["drill"], ["drill", "kill"], ["drill", "kill", "nobody"], ["drill", "maim", "leader"],
                      ["drill", "kill", "replica=x"], ["move"], ["move", "leader"], ["move", "replica", "--to=1"],
                      ["move", "leader", "--to=x"], ["move", "leader", "--to=48"]):
            self.refused(daemon, *words, code=2)
        self.assertIn("with multipaxos nobody is the acceptor", self.refused(daemon, "drill", "stop", "both"))
        self.assertIn("Multi-Paxos has no acceptor", self.refused(daemon, "move", "acceptor", "--to=1"))
        self.assertIn("replica 1 leads", ctl(daemon.endpoint, "move", "leader", "--to=1"))


class MoveTest(WithDaemon):
    def test_roles_move_around_and_refusals_are_the_protocols_own(self):
        daemon = self.start("--replicas=4", "--voters=3")
        self.assertIn("replica 1 is the acceptor: move that first", self.refused(daemon, "move", "leader", "--to=1"))
        self.assertIn("replica 3 is no voter", self.refused(daemon, "move", "leader", "--to=3"))
        self.assertIn("there is no replica 4", self.refused(daemon, "move", "leader", "--to=4"))
        self.assertRegex(ctl(daemon.endpoint, "move", "leader", "--to=2"),
                         r"\Areplica 2 leads \(epoch \d+, ballot \d+\)\n\Z")
        done = self.json(daemon, "move", "acceptor", "--to=0")
        self.assertEqual(list(done), ["role", "to", "asked", "done", "holder", "epoch", "ballot"])
        self.assertEqual([done[key] for key in ("role", "to", "asked", "done", "holder")], ["acceptor", 0, 2, True, 0])
        self.assertIn("begun", ctl(daemon.endpoint, "move", "leader", "--to=1", "--no-wait"))
        wait_until(lambda: self.holder(daemon, "leader") == 1, "the change is done")
        ctl(daemon.endpoint, "put", "k", "3")
        self.assertIn("3", ctl(daemon.endpoint, "get", "k"))
        ctl(daemon.endpoint, "drill", "stop", "replica=2")
        wait_until(lambda: self.state(daemon, 2) == "stopped", "the status says stopped")
        self.assertIn("replica 2 is stopped", self.refused(daemon, "move", "acceptor", "--to=2"))

    def test_a_move_to_the_voter_that_has_the_role_is_done_already(self):
        for agreement in ("1paxos", "multipaxos"):
            daemon = self.start(f"--agreement={agreement}")
            leader = self.holder(daemon, "leader")
            before = daemon.status()["replicas"][leader]["ballot"]
            for words in ([], ["--no-wait"]):
                self.assertRegex(ctl(daemon.endpoint, "move", "leader", f"--to={leader}", *words),
                                 rf"\Areplica {leader} leads already \(epoch \d+, ballot {before}\)\n\Z")
            done = self.json(daemon, "move", "leader", f"--to={leader}")
            self.assertEqual([done[key] for key in ("asked", "done", "holder")], [leader, True, leader])
            if agreement == "1paxos":
                self.assertIn("replica 1 is the acceptor already", ctl(daemon.endpoint, "move", "acceptor", "--to=1"))
            self.assertEqual(daemon.status()["replicas"][leader]["ballot"], before)

    def test_2pc_moves_nothing(self):
        daemon = self.start("--agreement=2pc")
        for role in ("leader", "acceptor"):
            self.assertIn("roles cannot be moved in this agreement", self.refused(daemon, "move", role, "--to=1"))


class BlockedTest(WithDaemon):
    def stop_both(self, daemon):
        """Stops leader and acceptor of five while a write waits for them; returns their ids."""
        ctl(daemon.endpoint, "put", "k", "1")
        hits = self.json(daemon, "drill", "stop", "both")["hits"]
        written = run_ctl(daemon.endpoint, "put", "k", "2", "--timeout=1s")
        return [next(hit["id"] for hit in hits if hit["role"] == role) for role in ("leader", "acceptor")], written

    def test_both_stopped_is_blocked_and_says_so_everywhere_until_one_is_continued(self):
        daemon = self.start("--replicas=5")
        (leader, acceptor), written = self.stop_both(daemon)
        self.assertEqual(written.returncode, 1)
        cause = "a former leader that may have used it is stopped"
        waits = f"waits? for replica {leader}: "

        def shown(*words):  # the other replicas may wait for one another for a moment, too
            wait_until(lambda: re.search(f"{waits}.*{cause}", ctl(daemon.endpoint, *words)), f"{words} says why it waits")

        shown("status")
        shown("watch-status", "--count=1")
        wait_until(lambda: (daemon.status().get("blocked") or {}).get("by") == leader, "scripts are told, too")
        wait_until(lambda: max(metrics(daemon, "ingot_replica_blocked").values()) == 1, "the metrics show it")
        wait_until(lambda: metrics(daemon, "ingot_blocked_seconds")[None] > 0, "and for how long")
        wait_until(lambda: any("is blocked" in line and cause in line for line in daemon.log), "and the log")
        other = next(r for r in range(4, -1, -1) if r not in (leader, acceptor))
        self.assertIn("no write was committed", run_ctl(daemon.endpoint, "drill", "kill", f"replica={other}", "--wait",
                                                        "--timeout=500ms").stderr)
        ctl(daemon.endpoint, "drill", "cont", f"replica={leader}")
        ctl(daemon.endpoint, "put", "k", "3")
        wait_until(lambda: "blocked" not in daemon.status(), "the status says so no more")
        wait_until(lambda: any("is no longer blocked" in line for line in daemon.log), "the log says so")
        self.assertIn("3", ctl(daemon.endpoint, "get", "k"))

    def test_a_group_of_which_one_replica_ran_did_not_say_that_it_was_blocked(self):
        for agreement, cause in (("1paxos", "the leader does not answer, and no other replica has taken its place"),
                                 ("multipaxos", "a change of leader or acceptor waits for a majority of the voters"),
                                 ("2pc", "the coordinator does not answer")):
            with self.subTest(agreement):
                daemon = self.start(f"--agreement={agreement}")
                ctl(daemon.endpoint, "put", "k", "1")
                leader = self.holder(daemon, "leader")
                bystander = next(r["id"] for r in daemon.status()["replicas"][::-1] if r["role"] == "replica")
                survivor = 3 - leader - bystander
                ctl(daemon.endpoint, "drill", "stop", f"replica={bystander}")
                late = run_ctl(daemon.endpoint, "drill", "stop", f"replica={leader}", "--wait", "--timeout=4s")
                self.assertEqual(late.returncode, 1)
                sentence = rf"replica {survivor} waits for replicas? [0-9, ]*\b{leader}\b[^:]*: {cause}; .*it ends when "
                missing = ", ".join(f"{each} (stopped)" for each in sorted((leader, bystander)))
                self.assertRegex(late.stderr, f"no write was committed in that time; blocked: {sentence}")
                self.assertRegex(ctl(daemon.endpoint, "status"), f"blocked: {sentence}")
                blocked = daemon.status()["blocked"]
                self.assertIn(leader, blocked["waits_for"])
                self.assertEqual((blocked["by"], blocked["reported_by"]), (blocked["waits_for"][0], [survivor]))
                self.assertIn(f"; not up: {missing}", blocked["details"])
                shown = metrics(daemon, "ingot_replica_blocked")
                self.assertEqual(shown, {f'replica="{each}"': float(each == survivor) for each in range(3)})
                by = metrics(daemon, "ingot_replica_blocked_by")
                self.assertEqual(by, {f'replica="{each}"': blocked["by"] if each == survivor else -1.0 for each in range(3)})
                lines = [line for line in daemon.log if f"replica {survivor} is blocked" in line]
                self.assertEqual(len(lines), 1, lines)
                self.assertIn(cause, lines[0])
                ctl(daemon.endpoint, "drill", "cont", f"replica={leader}")
                ctl(daemon.endpoint, "drill", "cont", f"replica={bystander}")
                ctl(daemon.endpoint, "put", "k", "2")
                wait_until(lambda: any(f"replica {survivor} is no longer blocked" in line for line in daemon.log),
                           "the log says that it is over")
                wait_until(lambda: "blocked" not in daemon.status(), "the status says so no more")

    def test_all_replicas_stopped_is_told_by_metrics_and_log_and_one_that_was_blocked_is_not_for_ever(self):
        daemon = self.start()
        ctl(daemon.endpoint, "put", "k", "1")
        leader = self.holder(daemon, "leader")
        bystander = next(r["id"] for r in daemon.status()["replicas"] if r["role"] == "replica")
        survivor = 3 - leader - bystander
        self.assertEqual(metrics(daemon, "ingot_blocked"), {None: 0.0})
        ctl(daemon.endpoint, "drill", "stop", f"replica={bystander}")
        run_ctl(daemon.endpoint, "drill", "stop", f"replica={leader}", "--wait", "--timeout=4s")
        wait_until(lambda: metrics(daemon, "ingot_replica_blocked")[f'replica="{survivor}"'] == 1, "one is blocked")
        self.assertEqual(metrics(daemon, "ingot_blocked"), {None: 1.0})

        ctl(daemon.endpoint, "drill", "stop", f"replica={survivor}")
        wait_until(lambda: daemon.status().get("blocked", {}).get("why") == "no replica runs", "the status says so")
        self.assertEqual(metrics(daemon, "ingot_blocked"), {None: 1.0})
        wait_until(lambda: any("warning supervisor: no replica runs; it ends when" in line for line in daemon.log),
                   "the log says so")
        self.assertEqual(set(metrics(daemon, "ingot_replica_blocked").values()), {0.0})

        ctl(daemon.endpoint, "drill", "cont", f"replica={bystander}")
        ctl(daemon.endpoint, "drill", "cont", f"replica={leader}")
        ctl(daemon.endpoint, "put", "k", "2")
        wait_until(lambda: any("a replica runs again" in line for line in daemon.log), "the log says that it is over")
        wait_until(lambda: metrics(daemon, "ingot_blocked") == {None: 0.0}, "the group is not blocked")
        for name in ("", "_why", "_by_mask", "_from_slot", "_to_slot"):  # the survivor's page keeps what it showed
            self.assertEqual(metrics(daemon, f"ingot_replica_blocked{name}")[f'replica="{survivor}"'], 0.0, name)
        self.assertEqual(metrics(daemon, "ingot_replica_blocked_by")[f'replica="{survivor}"'], -1.0)
        ctl(daemon.endpoint, "drill", "cont", f"replica={survivor}")
        daemon.require_service()

    def test_with_fencing_the_stopped_acceptor_is_killed_and_nothing_is_lost(self):
        daemon = self.start("--replicas=5", "--fence")
        (_, acceptor), _ = self.stop_both(daemon)
        ctl(daemon.endpoint, "put", "k", "3")
        self.assertGreaterEqual(sum(metrics(daemon, "ingot_fenced_total").values()), 1)
        wait_until(lambda: any(f"fences replica {acceptor}, incarnation 1" in line for line in daemon.log), "the log says so")
        wait_until(lambda: self.holder(daemon, "acceptor") is not None, "somebody else accepts")
        self.assertIn("3", ctl(daemon.endpoint, "get", "k"))


if __name__ == "__main__":
    unittest.main()
