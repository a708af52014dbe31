"""Random schedules of locks and elections: etcd and ingotd are asked the same, and calls end alike, with equal keys."""

import base64
import http.client
import json
import random
import socket
import threading
import unittest

from etcd_servers import Etcd, WATCHDOG_S
from tests.daemon.ingot_daemon import Daemon, wait_until
from tests.seeds import drawn_seed

LOCKS = ["a", "b"]
ELECTION = "e"
LEASES = range(1, 7)
STEPS = 80
OWN = {"cluster_id", "member_id", "raft_term"}


def b64(text):
    return base64.b64encode(text.encode()).decode()


def without_own(value):
    if isinstance(value, dict):
        return {key: without_own(of) for key, of in value.items() if key not in OWN}
    return [without_own(each) for each in value] if isinstance(value, list) else value


class Call:
    """A call that may wait, on a connection and a thread of its own."""

    def __init__(self, endpoint, path, body):
        self.connection = http.client.HTTPConnection(endpoint, timeout=WATCHDOG_S)
        self.connection.connect()
        self.told = None  # status and answer; None: it waits
        self.given_up = False
        self.thread = threading.Thread(target=self.run, args=(path, body))
        self.thread.start()

    def run(self, path, body):
        try:
            self.connection.request("POST", "/v3/" + path, body=json.dumps(body))
            answer = self.connection.getresponse()
            self.told = answer.status, without_own(json.loads(answer.read()))
            self.connection.close()
        except (OSError, http.client.HTTPException):
            if not self.given_up:
                raise

    def give_up(self):
        self.given_up = True
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()


class Side:
    """A server, and the calls that wait there by the lock's or election's name and the lease."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.calls = {}

    def ask(self, path, body):
        connection = http.client.HTTPConnection(self.endpoint, timeout=WATCHDOG_S)
        connection.request("POST", "/v3/" + path, body=json.dumps(body))
        answer = connection.getresponse()
        told = answer.status, without_own(json.loads(answer.read()))
        connection.close()
        return told

    def keys(self):
        """All of them, and the revision."""
        return self.ask("kv/range", {"key": b64("\0"), "range_end": b64("\0")})

    def has(self, key):
        return "kvs" in self.ask("kv/range", {"key": b64(key)})[1]

    def begin(self, path, name, lease, **more):
        call = Call(self.endpoint, path, {"name": b64(name), "lease": lease, **more})
        self.calls[name, lease] = call
        wait_until(lambda: call.told or self.has(f"{name}/{lease:x}"), "the call has its key")

    def give_up(self, name, lease):
        self.calls.pop((name, lease)).give_up()
        wait_until(lambda: not self.has(f"{name}/{lease:x}"), "its key goes")

    def firsts(self):
        """Of each name with keys: the lease of the key that was created first."""
        first = {}
        for kv in self.keys()[1].get("kvs", []):
            name, lease = base64.b64decode(kv["key"]).decode().split("/")
            first[name] = min(first.get(name, (1 << 62, 0)), (int(kv["create_revision"]), int(lease, 16)))
        return {name: lease for name, (_, lease) in first.items()}

    def is_settled(self):
        """Whoever is the first has been told so."""
        calls = ((name, self.calls.get((name, lease))) for name, lease in self.firsts().items())
        return all(call is None or call.told for _, call in calls)

    def state(self):
        return self.keys(), {name: call.told for name, call in self.calls.items()}


class Schedule:
    def __init__(self, seed, sides):
        self.rng = random.Random(seed)
        self.sides = sides

    def each(self, step):
        return [step(side) for side in self.sides]

    def waiting(self):
        return sorted(name for name, call in self.sides[0].calls.items() if call.told is None)

    def lock(self):
        name, lease = self.rng.choice(LOCKS), self.rng.choice(LEASES)
        if (name, lease) not in self.waiting():
            self.each(lambda side: side.begin("lock/lock", name, lease))

    def unlock(self):
        name = self.rng.choice(LOCKS)
        if name in self.sides[0].firsts():
            key = f"{name}/{self.sides[0].firsts()[name]:x}"
            return self.each(lambda side: side.ask("lock/unlock", {"key": b64(key)}))

    def give_up(self):
        waiting = [each for each in self.waiting() if self.sides[0].has(f"{each[0]}/{each[1]:x}")]
        if waiting:
            chosen = self.rng.choice(waiting)
            self.each(lambda side: side.give_up(*chosen))

    # Not of a call that waits: etcd 3.4 tells it at its turn that it has won, though its key is gone.
    def revoke(self):
        lease = self.rng.choice(LEASES)
        if all(lease != waits for _, waits in self.waiting()):
            self.each(lambda side: side.ask("lease/revoke", {"ID": lease}))
            return self.each(lambda side: side.ask("lease/grant", {"ID": lease, "TTL": 600}))

    def campaign(self):
        lease, value = self.rng.choice(LEASES), b64(f"value {self.rng.randrange(3)}")
        if (ELECTION, lease) not in self.waiting():
            self.each(lambda side: side.begin("election/campaign", ELECTION, lease, value=value))

    def known_leader(self):
        """What the last candidate that won was told, or one before it."""
        won = [call.told[1]["leader"] for (name, _), call in sorted(self.sides[0].calls.items())
               if name == ELECTION and call.told and call.told[0] == 200]
        return self.rng.choice(won) if won else None

    def proclaim(self):
        leader, value = self.known_leader(), b64(f"proclaimed {self.rng.randrange(3)}")
        if leader:
            return self.each(lambda side: side.ask("election/proclaim", {"leader": leader, "value": value}))

    def resign(self):
        leader = self.known_leader()
        if leader:
            return self.each(lambda side: side.ask("election/resign", {"leader": leader}))

    def leader(self):
        return self.each(lambda side: side.ask("election/leader", {"name": b64(ELECTION)}))

    def step(self):
        kind = self.rng.choice([self.lock, self.lock, self.unlock, self.unlock, self.give_up, self.revoke,
                                self.campaign, self.campaign, self.proclaim, self.resign, self.leader])
        return kind.__name__, kind()

    def settle(self):
        for side in self.sides:
            wait_until(side.is_settled, "the first ones are told")
        wait_until(lambda: self.sides[0].state() == self.sides[1].state(), "both have come as far")


class LocksTest(unittest.TestCase):
    maxDiff = None

    def test_a_random_schedule(self):
        seed = drawn_seed()
        with Etcd() as etcd, Daemon() as ingot:
            sides = [Side(etcd.endpoint), Side(ingot.endpoint)]
            schedule = Schedule(seed, sides)
            for lease in LEASES:
                schedule.each(lambda side: side.ask("lease/grant", {"ID": lease, "TTL": 600}))
            for number in range(STEPS):
                kind, answers = schedule.step()
                with self.subTest(number=number, kind=kind):
                    if answers:
                        self.assertEqual(*answers)
                    schedule.settle()
            for side in sides:
                for call in side.calls.values():
                    call.give_up() if call.told is None else call.thread.join()


if __name__ == "__main__":
    unittest.main()
