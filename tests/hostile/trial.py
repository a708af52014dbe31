"""One attack on one server, with an ordinary client beside it; what was seen, and which demands it breaks."""

import json
import os
import subprocess
import sys
import threading
import time

import ordinary
from attack import BEARS, GOES
from attacker import ATTACKS
from gauge import MIB, Gauge
from servers import TARGETS
from tests.daemon.ingot_daemon import WATCHDOG_S

HERE = os.path.dirname(os.path.abspath(__file__))
ATTACKER_NICENESS = "10"  # a real attacker has a machine of its own
DESCRIPTORS_SLACK = 2     # log files and such
ANSWERED_MIN = 5          # calls of the ordinary client during an attack: it goes on
POLL_S = 0.02
LAST_CALL_S = 60          # of the ordinary client, until it is taken for lost
NEW_CLIENT_S = 2          # for one try of a new client


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))] if sorted_values else None


def store_keys(endpoint, store, full):
    """Each put is repeated while the server gives it up: a busy machine may suspend it for seconds."""
    client = ordinary.Client(endpoint)
    end = time.monotonic() + WATCHDOG_S
    for number in range(store.get("full_keys", store["keys"]) if full else store["keys"]):
        while not client.tries_put(b"large-%04d" % number, b"v" * store["bytes"]):
            if time.monotonic() > end:
                raise AssertionError("the server takes no puts before the attack")
    client.close()


class Samples:
    """What the ordinary client prints, read as it comes: (intended time, milliseconds, outcome)."""

    def __init__(self, process):
        self.seen = []
        self.process = process
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            intended, latency_ms, outcome = line.split()
            self.seen.append((float(intended), float(latency_ms), outcome))

    def between(self, began, ended):
        return [each for each in list(self.seen) if began <= each[0] <= ended]

    def answered_since(self, moment):
        return sum(each[0] >= moment and each[2] == "OK" for each in list(self.seen))

    def await_answers(self, moment, count, watchdog_s=WATCHDOG_S):
        """If they never come, the result says so."""
        end = time.monotonic() + watchdog_s
        while self.answered_since(moment) < count and self.process.poll() is None and time.monotonic() < end:
            time.sleep(POLL_S)

    def begin_anew(self):
        """What was slow so far delays no call from here on."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        """A call that is never answered is cut off."""
        self.process.stdin.close()
        try:
            self.process.wait(LAST_CALL_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.reader.join()


class Trial:
    def __init__(self, name, target, options):
        self.name, self.target, self.options = name, target, options
        self.attack = ATTACKS[name]

    def run(self):
        """The result, as the line of JSON has it."""
        with TARGETS[self.target](self.attack.descriptors, self.options.flags) as server:
            if self.attack.store:
                store_keys(server.endpoint, self.attack.store, self.options.full)
            beside = self.start("ordinary.py", server.endpoint)
            try:
                samples, quiet_began = Samples(beside), time.monotonic()
                samples.await_answers(quiet_began, ANSWERED_MIN)
                time.sleep(self.options.quiet)
                with Gauge(server.pid) as gauge:
                    seen = self.assault(server.endpoint, samples)
                    back = self.settle(server, gauge)
                samples.end()
            finally:
                beside.kill()
                beside.wait()
            return self.result(seen, samples, gauge, back, quiet_began, server)

    def start(self, script, *words, prefix=()):
        """Its standard input ends with this process, so that it does not outlive it."""
        environment = {**os.environ, "PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen([*prefix, sys.executable, os.path.join(HERE, script), *words], env=environment,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def assault(self, endpoint, samples):
        """The attack goes on until the ordinary client has had some answers, however long that takes."""
        sizes = self.attack.sizes(self.options.full)
        attacker = self.start("attacker.py", self.name, endpoint, str(self.options.seconds),
                              str(self.options.patience), str(self.options.seed), json.dumps(sizes),
                              prefix=("nice", "-n", ATTACKER_NICENESS))
        try:
            samples.begin_anew()
            samples.await_answers(float(attacker.stdout.readline()), ANSWERED_MIN)
            return json.loads(attacker.communicate()[0])  # the end of its standard input lets it end
        finally:
            attacker.kill()
            attacker.wait()

    def settle(self, server, gauge):
        """Waits until memory and descriptors are back and a new client is served, as long as is asked for."""
        began = time.monotonic()
        back = {"memory_s": None, "descriptors_s": None, "new_client_s": None}
        while None in back.values() and gauge.now() and server.pid == gauge.pid:
            above, descriptors = gauge.now()
            passed = round(time.monotonic() - began, 3)
            if back["memory_s"] is None and above <= self.options.back_mib * MIB:
                back["memory_s"] = passed
            if back["descriptors_s"] is None and descriptors <= DESCRIPTORS_SLACK:
                back["descriptors_s"] = passed
            if back["new_client_s"] is None and not ordinary.refusal_of_a_new_client(server.endpoint, NEW_CLIENT_S):
                back["new_client_s"] = passed
            if passed > self.options.settle:
                break
            time.sleep(0.05)
        return {**back, "now": gauge.now() or (None, None)}

    def result(self, seen, samples, gauge, back, quiet_began, server):
        during = samples.between(seen["began"], seen["ended"])
        quiet = samples.between(quiet_began, seen["began"])
        latencies = sorted(each[1] for each in during)
        errors = [each[2] for each in samples.seen if each[2] != "OK"]
        held = seen["marks"].get("held")
        resident = gauge.median_since(held, seen["ended"]) if held else None
        return {
            "target": self.target, "attack": self.name, "title": self.attack.title,
            "did": said(seen), "connections": seen["connections"], "kept": seen["kept"], "left": seen["left"],
            "ended_s_max": seen["ends_s_max"], "ends": seen["ends"], "answers": seen["answers"],
            "resets": seen["resets"], "texts": seen["texts"], "notes": seen["notes"],
            "sent_bytes": seen["sent_bytes"], "received_bytes": seen["received_bytes"],
            "attack_s": round(seen["ended"] - seen["began"], 3), "start_mib": mib(gauge.start_bytes),
            "peak_mib": mib(gauge.peak_bytes - gauge.start_bytes), "after_mib": mib(back["now"][0]),
            "memory_back_s": back["memory_s"], "descriptors_after": back["now"][1],
            "descriptors_back_s": back["descriptors_s"], "new_client_s": back["new_client_s"],
            "kib_each": None if resident is None else round(
                (resident - gauge.start_bytes) / 1024 / max(1, seen["connections"]), 1),
            "calls": len(during), "calls_answered": sum(each[2] == "OK" for each in during),
            "quiet_p99_ms": percentile(sorted(each[1] for each in quiet), 0.99),
            "p50_ms": percentile(latencies, 0.5), "p99_ms": percentile(latencies, 0.99),
            "max_ms": latencies[-1] if latencies else None,
            "errors": {name: errors.count(name) for name in sorted(set(errors))},
            "same_process": server.pid == gauge.pid,
        }


def mib(size):
    return None if size is None else round(size / MIB, 1)


def said(seen):
    """What the server did with the attacker, in words."""
    parts = []
    ended = seen["connections"] - seen["kept"]
    if ended:
        after = f" after {seen['ends_s_max'] * 1000:.0f} ms at most"
        parts.append(f"{ended} of {seen['connections']} connections ended{after}: " + "; ".join(seen["ends"]))
    elif seen["connections"]:
        parts.append("all connections kept" if seen["connections"] > 1 else "connection kept")
    for word, counts in (("answered", seen["answers"]), ("reset", seen["resets"])):
        if counts:
            parts.append(word + " " + ", ".join(f"{name} ({count})" for name, count in counts.items()))
    return ". ".join(parts + seen["notes"])


def refused(result):
    """Whether the server has ended each connection of the attack, or each of its calls got an error."""
    errors = sum(count for name, count in result["answers"].items() if name != "OK")
    ended = result["kept"] + result["left"] == 0
    return ended or (errors + sum(result["resets"].values()) > 0 and not result["answers"].get("OK"))


def broken(result, p99_ms=None):
    """Sentences that name the demands which were not kept. Those of time are only made if a bound is given."""
    attack = ATTACKS[result["attack"]]
    if not result["same_process"]:
        yield "the process that served did not survive"
    if attack.demand == GOES and result["kept"]:
        yield f"{result['kept']} of {result['connections']} connections were not ended"
    if attack.demand not in (GOES, BEARS) and not refused(result):
        yield "the attacker was neither refused nor disconnected"
    bound_mib = attack.memory_mib_max + (attack.idle_kib_max or 0) * result["connections"] / 1024
    if result["peak_mib"] > bound_mib:
        yield f"memory grew by {result['peak_mib']} MiB, more than {bound_mib:.0f}"
    if attack.idle_kib_max and result["kib_each"] is not None and result["kib_each"] > attack.idle_kib_max:
        yield f"an idle connection costs {result['kib_each']} KiB, more than {attack.idle_kib_max}"
    if result["memory_back_s"] is None:
        yield f"memory did not come back: {result['after_mib']} MiB remain"
    if result["descriptors_back_s"] is None:
        yield f"descriptors did not come back: {result['descriptors_after']} more than before"
    if result["new_client_s"] is None:
        yield "no new client was served afterwards"
    if result["errors"]:
        yield "the ordinary client saw " + ", ".join(f"{n} {name}" for name, n in result["errors"].items())
    if result["calls_answered"] < ANSWERED_MIN:
        yield f"the ordinary client had {result['calls_answered']} answers during the attack"
    if p99_ms is not None and (result["p99_ms"] is None or result["p99_ms"] > p99_ms):
        yield f"the ordinary client's 99th percentile was {result['p99_ms']} ms, more than {p99_ms}"
