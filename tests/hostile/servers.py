"""The servers that are attacked: each is started for one attack, on a loopback port, and stopped after it."""

from tests.daemon.ingot_daemon import Daemon
from tests.services.etcd.etcd_servers import Etcd


def limited(descriptors):
    """Words before a command that give it a limit of open files."""
    return [] if descriptors is None else ["prlimit", f"--nofile={descriptors}"]


class Ingotd(Daemon):
    """`pid` is the process that serves."""

    def __init__(self, descriptors, flags=()):
        super().__init__(*flags)
        self.prefix = limited(descriptors)

    @property
    def pid(self):
        """None while no process serves."""
        return next(iter(self.children().get("@front-end", [])), None)


class EtcdServer(Etcd):
    def __init__(self, descriptors, flags=()):
        self.prefix = limited(descriptors)

    @property
    def pid(self):
        return self.process.pid if self.process.poll() is None else None


TARGETS = {"ingotd": Ingotd, "etcd": EtcdServer}
