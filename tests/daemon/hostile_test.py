"""Clients that send garbage or disconnect in the middle do not affect others."""

import random
import signal
import socket
import subprocess
import unittest

from ingot_daemon import INGOT_LOAD, WATCHDOG_S, Daemon
from tests.seeds import drawn_seed


class Hostile(unittest.TestCase):
    def test_garbage_on_both_ports_affects_no_other_client(self):
        prng = random.Random(drawn_seed())
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        with Daemon() as daemon:
            for endpoint in (daemon.endpoint, daemon.metrics):
                host, port = endpoint.rsplit(":", 1)
                for i in range(100):
                    with socket.create_connection((host, int(port))) as connection:
                        try:
                            connection.sendall((preface if i % 2 else b"") + prng.randbytes(prng.randrange(1, 5000)))
                        except ConnectionError:
                            pass  # refused early, which is right, too
            daemon.require_service()

    def test_clients_that_vanish_in_the_middle_affect_no_other(self):
        with Daemon() as daemon:
            for _ in range(5):
                load = subprocess.Popen([INGOT_LOAD, f"--endpoint={daemon.endpoint}", "--clients=64", "--duration=60s"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    load.wait(0.7)
                except subprocess.TimeoutExpired:
                    pass
                load.send_signal(signal.SIGKILL)
                load.wait(WATCHDOG_S)
            daemon.require_service()
            code, report = daemon.load("--duration=1s", "--clients=8")
            self.assertEqual(code, 0, report)


if __name__ == "__main__":
    unittest.main()
