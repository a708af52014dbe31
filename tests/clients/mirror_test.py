"""Debian's etcdctl make-mirror from etcd into ingotd and back, through deaths of the leader and of the front end."""

import unittest

import mirrors
from tests.daemon.ingot_daemon import Daemon
from tests.services.etcd.etcd_servers import ETCDCTL, Etcd


class MirrorTest(unittest.TestCase):
    def play(self, turned):
        with Etcd() as etcd, Daemon("--replicas=3") as daemon:
            ends = [etcd.endpoint, daemon.endpoint]
            source, destination = reversed(ends) if turned else ends
            print("; ".join(mirrors.play([ETCDCTL], source, destination, daemon)))

    def test_from_etcd(self):
        self.play(turned=False)

    def test_into_etcd(self):
        self.play(turned=True)


if __name__ == "__main__":
    unittest.main()
