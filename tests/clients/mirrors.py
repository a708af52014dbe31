"""etcdctl make-mirror between etcd and ingotd, through deaths of the leader and of the front end."""

import re
import subprocess
import tempfile
import threading

from gateway import Gateway
from tests.daemon.ingot_daemon import TURNED_AWAY, WATCHDOG_S, ctl, wait_until
from tests.services.etcd.etcd_servers import PATIENCE, ctl_environment

PREFIX = "mirror/"
BEFORE = 60    # keys that the source has when the mirror begins
AROUND = 30    # writes before a drill, and again after it
KEPT = 20      # a key is deleted when so many newer ones are there
# How a mirror ends whose destination has left it in the middle of a write.
CONNECTION_LOST = "transport is closing|error reading from server|connection reset|connection refused|broken pipe|EOF"


class Mirror:
    """A make-mirror that runs until the block ends. `etcdctl` are the words that start etcdctl."""

    def __init__(self, etcdctl, source, destination):
        self.source, self.destination = Gateway(source), Gateway(destination)
        self.words = [*etcdctl, f"--endpoints={source}", *PATIENCE, "make-mirror", "--prefix", PREFIX, destination]
        self.ended = []  # why it was started again

    def __enter__(self):
        self.start()
        return self

    def start(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.words, stdout=self.log, stderr=subprocess.STDOUT, env=ctl_environment())

    def runs(self):
        return self.process.poll() is None

    def same(self):
        return self.source.all(PREFIX) == self.destination.all(PREFIX)

    def catch_up(self, may_end):
        """Waits until both have the same keys. A mirror that ends is started again on an empty destination, since it
        would not see what was deleted meanwhile; one that ends with another reason than may_end fails."""
        while True:
            wait_until(lambda: not self.runs() or self.same(), "both have the same keys")
            if self.runs():
                return
            self.log.seek(0)
            said = self.log.read().strip().splitlines()[-1]
            if not re.search(may_end, said):
                raise AssertionError(f"make-mirror ended: {said}")
            self.ended.append(said)
            self.log.close()
            self.destination.delete_all(PREFIX)
            self.start()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(WATCHDOG_S)
        self.log.close()


class Writer:
    """Makes keys at a server, each only once, alone and three in one revision, and deletes old ones."""

    def __init__(self, endpoint):
        self.gateway = Gateway(endpoint)
        self.made = 0

    def write(self):
        number = self.made
        self.made += 1
        key = f"{PREFIX}{number:06}"
        if number % 5:
            self.gateway.put(key, f"value {number}")
        else:
            self.gateway.put_together([(f"{key}/{part}", f"{part} of {number}") for part in "abc"])
        if number % 3 == 0:
            self.gateway.delete(f"{PREFIX}{number - KEPT:06}")

    def through(self, trouble):
        """Writes before, during and after the trouble."""
        self.many(AROUND)
        thread = threading.Thread(target=trouble)
        thread.start()
        while thread.is_alive():
            self.write()
        thread.join()
        self.many(AROUND)

    def many(self, count):
        for _ in range(count):
            self.write()


def play(etcdctl, source, destination, daemon):
    """Mirrors all of `source` in `destination`, one of which is the daemon. It does not see that the leader dies. When
    the front end dies, a mirror into it may end, as with any etcd that it loses in the middle of a transaction. Returns
    what is worth a note."""
    writer = Writer(source)
    writer.many(BEFORE)
    into_ingot = destination == daemon.endpoint
    with Mirror(etcdctl, source, destination) as mirror:
        mirror.catch_up(TURNED_AWAY)
        writer.through(lambda: ctl(daemon.endpoint, "drill", "kill", "leader", "--wait"))
        mirror.catch_up(TURNED_AWAY)
        writer.through(lambda: ctl(daemon.endpoint, "drill", "kill", "front-end"))
        mirror.catch_up(f"{TURNED_AWAY}|{CONNECTION_LOST}" if into_ingot else TURNED_AWAY)
        keys = len(mirror.source.all(PREFIX))
    return [f"{writer.made} writes, {keys} keys are the same, {writer.gateway.failures} of the writer's calls repeated",
            *[f"started again after: {said}" for said in mirror.ended]]
