"""etcdctl make-mirror between etcd and ingotd, through deaths of the leader and of the front end."""

import subprocess
import tempfile
import threading

from gateway import Gateway
from tests.daemon.ingot_daemon import WATCHDOG_S, ctl, wait_until
from tests.services.etcd.etcd_servers import PATIENCE, ctl_environment

PREFIX = "mirror/"
BEFORE = 60   # keys that the source has when the mirror begins
AROUND = 30    # writes before a drill, and again after it
KEPT = 20      # a key is deleted when so many newer ones are there


class Mirror:
    """A make-mirror that runs until the block ends. `etcdctl` are the words that start etcdctl."""

    def __init__(self, etcdctl, source, destination):
        self.words = [*etcdctl, f"--endpoints={source}", *PATIENCE, "make-mirror", "--prefix", PREFIX, destination]

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.start()
        return self

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=self.log, stderr=subprocess.STDOUT, env=ctl_environment())

    def said(self):
        self.log.seek(0)
        return self.log.read().strip()

    def runs(self):
        return self.process.poll() is None

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(WATCHDOG_S)
        self.log.close()


class Writer:
    """Makes keys at a server, each only once, alone and three in one revision; with `deletes` old ones go."""

    def __init__(self, endpoint):
        self.gateway = Gateway(endpoint)
        self.made = 0

    def write(self, deletes):
        number = self.made
        self.made += 1
        key = f"{PREFIX}{number:06}"
        if number % 5:
            self.gateway.put(key, f"value {number}")
        else:
            self.gateway.put_together([(f"{key}/{part}", f"{part} of {number}") for part in "abc"])
        if deletes and number % 3 == 0:
            self.gateway.delete(f"{PREFIX}{number - KEPT:06}")

    def through(self, trouble, deletes):
        """Writes before, during and after the trouble."""
        self.many(AROUND, deletes)
        thread = threading.Thread(target=trouble)
        thread.start()
        while thread.is_alive():
            self.write(deletes)
        thread.join()
        self.many(AROUND, deletes)

    def many(self, count, deletes):
        for _ in range(count):
            self.write(deletes)


def play(etcdctl, source, destination, daemon):
    """Mirrors all of `source`, one of whose ends is the daemon's, in `destination`. A death of the leader must be
    hidden. When the front end dies, a mirror into it may end, as with any etcd that it loses in the middle of a
    transaction; it is started again. Returns what is worth a note."""
    writer, notes = Writer(source), []
    writer.many(BEFORE, deletes=True)
    with Mirror(etcdctl, source, destination) as mirror:
        def same(when):
            wait_until(lambda: not mirror.runs() or Gateway(destination).all(PREFIX) == Gateway(source).all(PREFIX),
                       f"both have the same keys {when}")
            if not mirror.runs():
                raise AssertionError(f"make-mirror ended {when}: {mirror.said()}")

        same("in the beginning")
        writer.through(lambda: ctl(daemon.endpoint, "drill", "kill", "leader", "--wait"), deletes=True)
        same("after the leader's death")
        # A mirror that begins again copies keys, and does not see which were deleted meanwhile.
        writer.through(lambda: ctl(daemon.endpoint, "drill", "kill", "front-end"), deletes=False)
        if destination == daemon.endpoint:
            wait_until(lambda: not mirror.runs() or Gateway(destination).all(PREFIX) == Gateway(source).all(PREFIX),
                       "both have the same keys, or the mirror has ended")
            if not mirror.runs():
                notes.append(f"make-mirror ended when the front end died, and was started again: {mirror.said()}")
                mirror.start()
        same("after the front end's death")
    notes.append(f"{writer.made} writes, {len(Gateway(source).all(PREFIX))} keys are the same, "
                 f"{writer.gateway.failures} calls of the writer were made again")
    return notes
