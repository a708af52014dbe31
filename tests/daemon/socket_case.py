"""For tests of an instance's sockets: daemons that end with their test, and a folder that other users reach."""

import os
import shutil
import tempfile
import unittest

from ingot_daemon import RUNTIME, Daemon

DRILL = ("drill", "kill", "replica=2")


def port_of(daemon):
    return int(daemon.endpoint.rsplit(":", 1)[1])


class SocketCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sockets-", dir=RUNTIME)
        os.chmod(self.folder, 0o755)
        os.chmod(RUNTIME, 0o755)  # other users reach what is in it
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *flags):
        daemon = Daemon(*flags)
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None)
        return daemon
