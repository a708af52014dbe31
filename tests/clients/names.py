"""CoreDNS answers from records that are put in a store: each answer must be what the store held while it was asked for,
through deaths of the leader and of the front end."""

import json
import os
import random
import re
import subprocess
import tempfile
import threading

from gateway import Gateway, b64
from tests.daemon.ingot_daemon import WATCHDOG_S, ctl, wait_until
from tests.services.etcd.etcd_servers import free_port

ZONE = "ingot.test"
NAMES = 8        # records that change all the time
AROUND = 100     # queries before a drill, and again after it
LEASE_S = 200    # less than the TTL of a record without a lease, which is 300 s
ADDRESS = re.compile(r"^\S+\s+(\d+)\s+IN\s+A\s+10\.(\d+)\.(\d+)\.(\d+)$", re.M)


def key_of(name):
    """SkyDNS's: the labels backwards."""
    return "/skydns/" + "/".join(reversed(f"{name}.{ZONE}".split(".")))


def record_of(number):
    return json.dumps({"host": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"})


class CoreDns:
    """A CoreDNS on a loopback port, which reads the records of a store. `words` start it."""

    def __init__(self, words, endpoint):
        self.words, self.endpoint = words, endpoint

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        path = os.path.join(self.folder.name, "Corefile")
        with open(path, "w") as file:
            file.write(f".:{self.port} {{\n  bind 127.0.0.1\n  errors\n  etcd {ZONE} {{\n"
                       f"    endpoint http://{self.endpoint}\n  }}\n}}\n")
        self.log = open(os.path.join(self.folder.name, "log"), "w+")
        self.process = subprocess.Popen([*self.words, "-conf", path], stdout=self.log, stderr=subprocess.STDOUT)
        wait_until(lambda: self.process.poll() is not None or self.ask("nothing")[0] == "NXDOMAIN", "CoreDNS answers")
        return self

    def ask(self, name):
        """(DNS's code or None, number of the address or None, TTL in seconds or None)."""
        done = subprocess.run(["dig", "@127.0.0.1", f"-p{self.port}", "+tries=1", "+time=20", "+noall", "+comments",
                               "+answer", f"{name}.{ZONE}", "A"], stdout=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        code, found = re.search(r"status: (\w+)", done.stdout), ADDRESS.search(done.stdout)
        if not found:
            return code and code[1], None, None
        ttl_s, *parts = map(int, found.groups())
        return code[1], parts[0] << 16 | parts[1] << 8 | parts[2], ttl_s

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(WATCHDOG_S)
        self.log.close()
        self.folder.cleanup()


class Records(threading.Thread):
    """Changes records, each to a higher number, until it is stopped. A name's record is at least `put[name]`, and at
    most `tried[name]`, which is set before and never after a put begins."""

    def __init__(self, endpoint):
        super().__init__()
        self.gateway = Gateway(endpoint)
        self.put, self.tried = {}, {}
        self.number = 0
        self.stopped = threading.Event()
        self.error = None

    def change(self, name):
        self.number += 1
        self.tried[name] = self.number
        self.gateway.put(key_of(name), record_of(self.number))
        self.put[name] = self.number

    def run(self):
        try:
            while not self.stopped.is_set():
                self.change(f"host{self.number % NAMES}")
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def __enter__(self):
        for number in range(NAMES):
            self.change(f"host{number}")
        self.start()
        return self

    def end(self):
        self.stopped.set()
        self.join(WATCHDOG_S)
        if self.error:
            raise self.error

    def __exit__(self, *_):
        self.stopped.set()


class Asker:
    """Asks for random names, and counts answers. A wrong one fails."""

    def __init__(self, server, records):
        self.server, self.records = server, records
        self.right, self.failed = 0, {}

    def one(self):
        name = f"host{random.randrange(NAMES)}"
        least = self.records.put[name]
        code, number, _ = self.server.ask(name)
        most = self.records.tried[name]
        if code == "NOERROR" and number is not None and least <= number <= most:
            self.right += 1
        elif code in (None, "SERVFAIL"):
            self.failed[code] = self.failed.get(code, 0) + 1
        else:
            raise AssertionError(f"{name}: {code} {number}, not {least} to {most}")

    def through(self, trouble):
        thread = threading.Thread(target=trouble)
        for _ in range(AROUND):
            self.one()
        thread.start()
        wanted = AROUND
        while thread.is_alive() or wanted:
            before = self.right
            self.one()
            wanted -= min(wanted, self.right - before)
        thread.join()


def play(words, daemon):
    """Returns what is worth a note."""
    with Records(daemon.endpoint) as records, CoreDns(words, daemon.endpoint) as server:
        asker = Asker(server, records)
        asker.through(lambda: ctl(daemon.endpoint, "drill", "kill", "leader", "--wait"))
        asker.through(lambda: ctl(daemon.endpoint, "drill", "kill", "front-end"))
        records.end()
        new_and_leased(server, Gateway(daemon.endpoint))
    return [f"{records.number} records put, {records.gateway.failures} of the puts made again",
            f"{asker.right} answers, none wrong; queries that failed: {asker.failed or 0}"]


def require(answer, code, number):
    if answer[:2] != (code, number):
        raise AssertionError(f"{answer}, not {code} {number}")


def new_and_leased(server, gateway):
    """A new record is seen at once. One with a lease lives as long, and DNS's TTL is the lease's time."""
    gateway.put(key_of("new"), record_of(77))
    require(server.ask("new"), "NOERROR", 77)
    granted = gateway.call("lease/grant", {"TTL": LEASE_S})["ID"]
    gateway.call("kv/put", {"key": b64(key_of("leased")), "value": b64(record_of(78)), "lease": granted})
    answer = server.ask("leased")
    require(answer, "NOERROR", 78)
    if not 0 < answer[2] <= LEASE_S:
        raise AssertionError(f"a lease of {LEASE_S} s gives a TTL of {answer[2]} s")
    gateway.call("lease/revoke", {"ID": granted})
    require(server.ask("leased"), "NXDOMAIN", None)
