"""etcd3gw, which calls the JSON gateway: counts, watches, holds a lock and keeps a lease alive, through deaths of the
leader and of the front end."""

import json
import subprocess

from gateway import Gateway
from tests.daemon.ingot_daemon import WATCHDOG_S, ctl, wait_until

AROUND = 20  # counts before a drill, and again after it


def play(words, daemon):
    """Returns what is worth a note."""
    process = subprocess.Popen([*words, daemon.endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        return through_deaths(process, daemon)
    finally:
        process.kill()
        process.wait(WATCHDOG_S)


def through_deaths(process, daemon):
    gateway = Gateway(daemon.endpoint)

    def counts_on():
        target = count(gateway) + AROUND
        wait_until(lambda: process.poll() is not None or count(gateway) >= target, "etcd3gw counts on")

    wait_until(lambda: process.poll() is not None or gateway.all("count"), "etcd3gw counts")
    counts_on()
    for target in ("leader", "front-end"):
        ctl(daemon.endpoint, "drill", "kill", target)
        counts_on()
    said, errors = process.communicate(timeout=WATCHDOG_S)
    if process.returncode:
        raise AssertionError(f"etcd3gw: {errors.strip()[-2000:]}")
    found = json.loads(said)
    if found["counted"] < 3 * AROUND:
        raise AssertionError(f"it has counted to {found['counted']} alone")
    return [f"counted to {found['counted']}, each number seen once; {found['again']} calls made again",
            "the lock was held and the lease kept all the time"]


def count(gateway):
    return int(gateway.all("count").get("count", "0").split()[0])
