"""A store that is full: etcd and ingotd with a small quota, driven by the same commands, tell the client the same."""

import json
import re
import subprocess
import unittest
import urllib.error
import urllib.request

from etcd_servers import ETCDCTL, PATIENCE, Etcd, WATCHDOG_S, ctl_environment
from tests.daemon.ingot_daemon import Daemon

QUOTA = "--quota-backend-bytes=1048576"
VALUE = "v" * 100_000
KEYS_MAX = 30  # more than fit into either
NO_SPACE = "etcdserver: mvcc: database space exceeded"


class SmallEtcd(Etcd):
    flags = (QUOTA,)


def run(endpoint, *words, text=""):
    """(exit code, standard output, whether the error is that there is no space). A refused put is tried again by
    etcdctl, which writes a line for each attempt, so the rest of its standard error is not compared."""
    done = subprocess.run([ETCDCTL, f"--endpoints={endpoint}", *PATIENCE, *words], input=text.encode(),
                          env=ctl_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WATCHDOG_S)
    output = re.sub(r"memberID:\d+", "memberID:N", done.stdout.decode())
    return done.returncode, output, NO_SPACE in done.stderr.decode()


def fill(endpoint):
    """Puts large values until one is refused; returns the number of those that were not."""
    for number in range(KEYS_MAX):
        code, _, full = run(endpoint, "put", f"big-{number:02}", text=VALUE)
        if full:
            return number
        if code != 0:
            raise AssertionError(f"put {number} failed, and not since the store is full")
    raise AssertionError(f"{KEYS_MAX} values of {len(VALUE)} bytes fit into {QUOTA}")


def revision(endpoint):
    return re.search(r'"revision":(\d+)', run(endpoint, "get", "x", "-w", "json")[1])[1]


def health(endpoint, query):
    """(status, "true" or "false"); etcd 3.4 gives no reason, and Ingot does."""
    try:
        with urllib.request.urlopen(f"http://{endpoint}/health{query}", timeout=WATCHDOG_S) as answer:
            return answer.status, json.load(answer)["health"]
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)["health"]


# Only the alarm's own name leaves it out.
HEALTH = ["", "?exclude=NOSPACE", "?exclude=nospace", "?exclude=NOSPACE,CORRUPT", "?exclude=CORRUPT&exclude=NOSPACE",
          "?exclude=", "?exclude=CORRUPT", "?exclude=NOSPACE&serializable=true"]
# What is the same at the quota, however many values have fitted.
FULL = [
    (["put", "small", "1"], ""),
    (["alarm", "list"], ""),
    (["get", "big-00", "--keys-only"], ""),
    (["txn"], 'value("big-00") = "x"\n\nput small 1\n\nget small\n\n'),
    (["txn"], 'value("big-00") = "x"\n\nget small\n\nget small\n\n'),
    (["del", "big-01"], ""),
    (["put", "small", "1"], ""),
]
EMPTY = [
    (["put", "small", "1"], ""),
    (["alarm", "disarm"], ""),
    (["alarm", "list"], ""),
    (["alarm", "disarm"], ""),
    (["put", "small", "1"], ""),
    (["get", "small"], ""),
]


class Quota(unittest.TestCase):
    def test_a_full_store_tells_clients_the_same_as_etcd(self):
        with SmallEtcd() as etcd, Daemon(QUOTA) as ingot:
            both = (ingot.endpoint, etcd.endpoint)
            print("values that fitted:", [fill(endpoint) for endpoint in both])
            self.compare(both, FULL)
            self.compare_health(both)
            self.assertEqual(health(ingot.endpoint, ""), (503, "false"))
            for endpoint in both:
                self.assertEqual(run(endpoint, "del", "--prefix", "big-")[0], 0)
                self.assertEqual(run(endpoint, "compaction", revision(endpoint))[0], 0)
                self.assertEqual(run(endpoint, "defrag")[0], 0)
            self.compare(both, EMPTY)
            self.compare_health(both)
            self.assertEqual(health(ingot.endpoint, ""), (200, "true"))

    def compare_health(self, both):
        for query in HEALTH:
            with self.subTest(query=query):
                self.assertEqual(*(health(endpoint, query) for endpoint in both))

    def compare(self, both, steps):
        ingot, etcd = both
        for words, text in steps:
            with self.subTest(command=" ".join(words), input=text):
                self.assertEqual(run(ingot, *words, text=text), run(etcd, *words, text=text))


if __name__ == "__main__":
    unittest.main()
