"""Servers to compare: Debian's etcd, and the services of etcd's API on one store in a separate process."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

ETCD = os.environ.get("INGOT_ETCD", "/usr/bin/etcd")  # another version, to compare with that
ETCDCTL = "/usr/bin/etcdctl"
LOCAL_SERVER = "tests/services/etcd/local_server"
WATCHDOG_S = 300  # only ends a test that hangs
# A client's timeout for one answer. It is long since a busy machine may suspend any process for seconds.
PATIENCE = ["--dial-timeout=100s", "--command-timeout=100s"]


def require_etcd():
    """Fails if etcd is missing: without it the test would compare nothing."""
    for program in (ETCD, ETCDCTL):
        if not os.access(program, os.X_OK):
            raise AssertionError(f"{program} is missing; apt-get install etcd-server etcd-client")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Etcd:
    """An empty etcd on a loopback port. Another program may take the port first; then it tries again."""

    prefix = ()  # words before the command, such as those of a program that limits it
    flags = ()   # further flags

    def __enter__(self):
        require_etcd()
        for _ in range(5):
            self.folder = tempfile.mkdtemp(prefix="etcd-", dir=os.environ.get("TEST_TMPDIR"))
            self.endpoint = f"127.0.0.1:{free_port()}"
            peer = f"http://127.0.0.1:{free_port()}"
            self.log = open(os.path.join(self.folder, "log"), "w+")
            self.process = subprocess.Popen(
                [*self.prefix, ETCD, *self.flags, "--data-dir", os.path.join(self.folder, "data"), "--listen-client-urls",
                 f"http://{self.endpoint}", "--advertise-client-urls", f"http://{self.endpoint}",
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"default={peer}"],
                stdout=self.log, stderr=subprocess.STDOUT)
            if self._healthy():
                return self
            self.log.seek(0)
            said = self.log.read()
            self.__exit__()
            if "address already in use" not in said:
                break
            print("RETRIED: another program took etcd's port")
        raise AssertionError("etcd did not start:\n" + said)

    def version(self):
        """Its first two numbers."""
        with urllib.request.urlopen(f"http://{self.endpoint}/version") as answer:
            return tuple(int(part) for part in json.load(answer)["etcdserver"].split(".")[:2])

    def _healthy(self):
        end = time.monotonic() + WATCHDOG_S
        while self.process.poll() is None and time.monotonic() < end:
            if subprocess.run([ETCDCTL, f"--endpoints={self.endpoint}", "endpoint", "health"], env=ctl_environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return True
            time.sleep(0.1)
        return False

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class LocalServer:
    def __enter__(self):
        self.process = subprocess.Popen([LOCAL_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.endpoint = self.process.stdout.readline().strip()
        assert self.endpoint, "the local server did not start"
        return self

    def __exit__(self, *_):
        self.process.communicate()  # closes its standard input, which ends it
        if self.process.returncode != 0:
            raise AssertionError(f"the local server exited with {self.process.returncode}")


def ctl_environment():
    return {"ETCDCTL_API": "3", "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp"}
