"""Counts up a key by etcd3gw, which calls the JSON gateway, until standard input ends. Meanwhile it holds a lock, keeps a
key alive, and follows the count by watches. At the end it prints one line of JSON: how far it has counted, and how many
calls failed and were made again.

usage: counter.py HOST:PORT

Exit code: 0; 1 if an answer was wrong, with the reason on standard error."""

import argparse
import json
import os
import sys
import threading
import time

import etcd3gw
from etcd3gw.exceptions import Etcd3Exception
from etcd3gw.utils import _encode as b64
from requests import RequestException

KEY, LOCK, KEPT, MANY = "count", "counter", "kept", "many/"
TTL_S = 60          # longer than a busy machine suspends anything
PAUSE_S = 0.02
EVENT_WAIT_S = 5    # for an event; then the watch is made again, as it does not say that its connection has ended
PADDING = "x" * 30_000  # so that an event is longer than what is sent in one piece
WRITERS, WRITES = 4, 25


class Counter:
    """What it does, each in a thread of its own. `wrong` says what should not have been."""

    def __init__(self, endpoint):
        self.host, port = endpoint.rsplit(":", 1)
        self.port = int(port)
        self.stopped = threading.Event()
        self.again = 0
        self.counted = 0
        self.wrong = []

    def client(self):
        """One for each thread, as it has one connection."""
        return etcd3gw.client(self.host, self.port)

    def patiently(self, call):
        """What the call returns, made again while the server cannot be reached."""
        while True:
            try:
                return call()
            except (Etcd3Exception, RequestException):
                self.again += 1
                time.sleep(PAUSE_S)

    def require(self, condition, what):
        if not condition:
            self.wrong.append(what)
            self.stopped.set()

    def count(self):
        """By compare-and-swap. A swap whose outcome is unknown is looked for by the next read."""
        client = self.client()
        while not self.stopped.is_set():
            value, about = self.patiently(lambda: client.get(KEY, metadata=True))[0]
            number = int(value.split()[0])
            self.require(number >= self.counted, f"the count fell from {self.counted} to {number}")
            self.counted = number
            swap = {"compare": [{"key": b64(KEY), "target": "MOD", "mod_revision": about["mod_revision"]}],
                    "success": [{"request_put": {"key": b64(KEY), "value": b64(f"{number + 1} {PADDING}")}}]}
            try:
                client.transaction(swap)
            except Etcd3Exception:
                self.again += 1

    def follow(self, revision):
        """Sees each number once, in order."""
        client, seen = self.client(), 0
        while seen < self.counted or not self.stopped.is_set():
            try:
                event = client.watch_once(KEY, timeout=EVENT_WAIT_S, start_revision=revision)
            except (Etcd3Exception, RequestException):
                time.sleep(PAUSE_S)
                continue
            number = int(event["kv"]["value"].split()[0])
            self.require(number == seen + 1, f"{number} followed {seen}")
            seen, revision = number, int(event["kv"]["mod_revision"]) + 1

    def keep(self, lock, lease):
        while not self.stopped.wait(TTL_S / 20):
            for what, each in (("the lock", lock), ("the lease", lease)):
                self.require(self.patiently(each.refresh) > 0, f"{what} is gone")

    def crowd(self):
        """Many large events at once on one watch: all of them arrive."""
        client = self.client()
        events, cancel = client.watch(MANY, range_end=MANY[:-1] + "0")

        def write(writer):
            own = self.client()
            for number in range(WRITES):
                own.put(f"{MANY}{writer}/{number}", PADDING)

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        for each in writers:
            each.start()
        keys = [next(events)["kv"]["key"].decode() for _ in range(WRITERS * WRITES)]
        cancel()
        for each in writers:
            each.join()
        self.require(len(set(keys)) == len(keys), "an event came twice")

    def run(self):
        client = self.client()
        self.crowd()
        lock = client.lock(LOCK, ttl=TTL_S)
        self.require(lock.acquire(), "there is a lock already")
        self.require(not client.lock(LOCK, ttl=TTL_S).acquire(), "two have the lock")
        lease = client.lease(TTL_S)
        self.require(client.create(KEPT, "here", lease=lease), "the key was there")
        client.put(KEY, "0")
        begin = int(client.get(KEY, metadata=True)[0][1]["mod_revision"]) + 1
        threads = [threading.Thread(target=self.count), threading.Thread(target=self.follow, args=(begin,)),
                   threading.Thread(target=self.keep, args=(lock, lease))]
        for each in threads:
            each.start()
        sys.stdin.read()
        self.stopped.set()
        for each in threads:
            each.join()
        self.require(self.patiently(lock.is_acquired), "the lock is gone")
        self.require(self.patiently(lease.keys) == [KEPT.encode()], "the lease has lost its key")
        self.patiently(lease.revoke)
        self.require(self.patiently(lambda: client.get(KEPT)) == [], "the key outlived its lease")
        self.require(self.patiently(lock.release), "the lock was not released")


def main(words):
    parser = argparse.ArgumentParser(prog="counter.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ENDPOINT")
    counter = Counter(parser.parse_args(words).ENDPOINT)
    counter.run()
    if counter.wrong:
        sys.exit("; ".join(counter.wrong))
    print(json.dumps({"counted": counter.counted, "again": counter.again}), flush=True)
    os._exit(0)  # not waiting for threads of watches that etcd3gw has left behind


main(sys.argv[1:])
