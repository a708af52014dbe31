"""A real daemon whose leader and acceptor die or stop under load: the survivors go on, no acknowledged write is lost,
and the living replicas agree. Prints the longest time without an acknowledged write, for information only."""

import os
import signal
import unittest

from ingot_daemon import Daemon, Load, ctl, outage_of, run_ctl, wait_until, with_role


def send(replicas, sig):
    for replica in replicas:
        assert replica["pid"] > 0, f"replica {replica['id']} has no process"  # 0 would be this test's process group
        os.kill(replica["pid"], sig)


class Failover(unittest.TestCase):
    def under_load(self, what, trouble, *flags):
        with self.subTest(what), Daemon(*flags) as daemon:
            load = Load(daemon, "--duration=2s", "--keys=200", "--read-share=0.3")
            load.wait_until_under_way()
            trouble(daemon)
            applied = max(r["applied"] for r in daemon.status()["replicas"])
            report = load.require_held()
            answers = daemon.equal_digests()
            self.assertGreater(answers[0][2], applied)
            print(f"{what}: {outage_of(report)}")

    def test_death_of_both_of_five(self):
        def kill_both(daemon):
            send([with_role(daemon, "leader"), with_role(daemon, "acceptor")], signal.SIGKILL)

        self.under_load("leader and acceptor of five killed", kill_both, "--replicas=5")

    def test_a_stopped_leader_is_replaced_and_does_no_harm_when_it_wakes(self):
        self.stopped("leader")

    def test_a_stopped_acceptor_is_replaced_and_does_no_harm_when_it_wakes(self):
        self.stopped("acceptor")

    def stopped(self, role):
        def stop_and_wake(daemon):
            victim = with_role(daemon, role)
            send([victim], signal.SIGSTOP)
            ctl(daemon.endpoint, "put", "while", "stopped")  # a waiting client, even if the load has ended
            wait_until(lambda: with_role(daemon, role)["id"] != victim["id"], f"somebody else is the {role}")
            send([victim], signal.SIGCONT)

        self.under_load(f"{role} stopped and woken", stop_and_wake)

    def test_an_idle_group_replaces_a_dead_leader(self):
        with Daemon() as daemon:
            ctl(daemon.endpoint, "put", "a", "1")
            victim = with_role(daemon, "leader")
            send([victim], signal.SIGKILL)
            wait_until(lambda: with_role(daemon, "leader")["id"] != victim["id"], "somebody else leads")
            self.assertIn("1", ctl(daemon.endpoint, "get", "a"))

    def test_two_phase_commit_says_that_it_is_blocked_and_by_whom(self):
        with Daemon("--agreement=2pc") as daemon:
            ctl(daemon.endpoint, "put", "a", "1")
            send([daemon.status()["replicas"][2]], signal.SIGSTOP)  # a dead one would be restarted
            done = run_ctl(daemon.endpoint, "put", "a", "2", "--timeout=2s")
            self.assertNotEqual(done.returncode, 0)
            wait_until(lambda: daemon.status().get("blocked", {}).get("by") == 2, "the status says blocked, and by whom")
            self.assertIn("a participant does not answer", daemon.status()["blocked"]["why"])
            self.assertRegex(ctl(daemon.endpoint, "status"), "waits? for replica 2: a participant does not answer")


if __name__ == "__main__":
    unittest.main()
