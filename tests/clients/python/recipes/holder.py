"""Holds sessions and locks for tests/clients/recipes.sh, with the package etcd3. holders.py has the questions and
answers.

usage: holder.py HOST:PORT
"""

import argparse
import sys
import threading

import etcd3

AGAIN_S = 0.1  # after an error, and after a lock that another holds


class KeptAlive:
    """Refreshes a lease three times in its time, by a thread of its own, until it has ended or is closed."""

    def __init__(self, lease):
        self.lease, self.ended, self.closed = lease, False, threading.Event()
        threading.Thread(target=self._refresh, daemon=True).start()

    def _refresh(self):
        pause_s = 0
        while not self.closed.wait(pause_s):
            try:
                self.ended = self.lease.refresh()[0].TTL <= 0
                pause_s = self.lease.ttl / 3
            except etcd3.exceptions.Etcd3Exception:
                pause_s = AGAIN_S
            if self.ended:
                return

    def close(self):
        self.closed.set()
        self.lease.revoke()


class Holder:
    def __init__(self, endpoint):
        host, _, port = endpoint.rpartition(":")
        self.client = etcd3.client(host=host, port=int(port))
        self.sessions, self.ttls_s, self.locks = {}, {}, {}

    def session(self, name, ttl_s):
        lease = self.client.lease(int(ttl_s))
        self.sessions[name], self.ttls_s[name] = KeptAlive(lease), int(ttl_s)
        return str(lease.id)

    def put(self, name, key, value):
        self.client.put(key, value, lease=self.sessions[name].lease)
        return ""

    def ended(self, name):
        return "yes" if self.sessions[name].ended else "no"

    def lock(self, name, prefix):
        """The lock has a lease of its own. It is asked for again and again: how the package waits for one that
        another holds is broken with each tenacity that Python 3.11 can have."""
        lock = self.client.lock(prefix, ttl=self.ttls_s[name])
        while True:
            try:
                if lock.acquire(timeout=0):
                    self.locks[name + prefix] = lock, KeptAlive(lock.lease)
                    return lock.key
            except etcd3.exceptions.Etcd3Exception:
                pass  # the server is away
            threading.Event().wait(AGAIN_S)

    def unlock(self, name, prefix):
        lock, kept = self.locks.pop(name + prefix)
        if not lock.release():
            raise ValueError("the lock was no longer held")
        kept.close()
        return ""

    def increment(self, key, count):
        """Compares and swaps."""
        done = uncertain = 0
        for _ in range(int(count)):
            try:
                while not self._once(key):
                    pass
                done += 1
            except etcd3.exceptions.Etcd3Exception:
                uncertain += 1
        return f"{done} {uncertain}"

    def _once(self, key):
        value, _ = self.client.get(key)
        if value is None:
            return self.client.put_if_not_exists(key, "1")
        return self.client.replace(key, value, str(int(value) + 1))

    def close(self, name):
        self.sessions[name].close()
        return ""


def carry_out(holder, number, verb, words):
    if not hasattr(holder, verb):
        answer = "SKIPPED"
    else:
        try:
            answer = "OK " + getattr(holder, verb)(*words)
        except Exception as error:  # whatever it is, the runner is to be told
            answer = f"ERROR {type(error).__name__}: {error}".replace("\n", " ")
    print(f"{number}: {answer}\n", end="", flush=True)


def main(words):
    parser = argparse.ArgumentParser(prog="holder.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ENDPOINT")
    holder = Holder(parser.parse_args(words).ENDPOINT)
    for line in sys.stdin:
        number, verb, *rest = line.split()
        threading.Thread(target=carry_out, args=(holder, number, verb, rest), daemon=True).start()


main(sys.argv[1:])
