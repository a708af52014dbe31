"""The servers that are compared: each runs until the end of its block, and leaves nothing behind."""
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

KEY = "against-etcd"  # of all ranges
STARTS = 3            # of a server that takes a free port; another program may take it first
START_S = 60          # in which it must have taken a write
POLL_S = 0.05
STOP_S = 20           # to end by itself; then it is killed
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class ServerError(Exception):
    """A server did not start, has ended by itself, or refused what prepares a measurement."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def environment(**more):
    """That of this process, without variables that would configure a server or a client."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith(("INGOT_", "ETCD"))}, **more}


def end_with_this_process():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Server:
    """A server in a child process, with a folder of its own. Use as a context manager."""
    name = None
    keeps_versions = True  # of keys, until they are compacted

    def __init__(self, flags, parent=None):
        self.flags = flags
        self.parent = parent  # of its folder
        self.endpoint = None

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="against-etcd-", dir=self.parent)
        try:
            for _ in range(STARTS):
                self.start()
                if self.takes_a_write():
                    return self
                self.stop()
            raise ServerError(f"{self.name} did not start; the last that it said: {self.last_line()}")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self):
        raise NotImplementedError

    def variables(self):
        return {}

    def start(self):
        with open(self.log_path(), "w", encoding="utf-8") as log:
            # A session of its own: Ctrl-C is for this program, which then stops the servers.
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=end_with_this_process, env=environment(**self.variables()))

    def stop(self):
        process = getattr(self, "process", None)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log_path(self):
        return os.path.join(self.folder, "log")

    def log(self):
        with open(self.log_path(), encoding="utf-8", errors="replace") as file:
            return file.read()

    def last_line(self):
        return (self.log().splitlines() or ["nothing"])[-1]

    def find_endpoint(self):
        """Sets it, if the server has a port already."""

    def takes_a_write(self):
        """False if it ends, or takes none in time. The write is what ranges find."""
        end = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < end:
            self.find_endpoint()
            if self.endpoint and self.ctl("put", KEY, "v" * self.flags.value_bytes).returncode == 0:
                return True
            time.sleep(POLL_S)
        return False

    def ctl(self, *words):
        return subprocess.run([self.flags.etcdctl, f"--endpoints={self.endpoint}", "--command-timeout=60s", *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment(ETCDCTL_API="3"))

    def compact(self):
        """Drops all versions but the last of each key. What is left to do then (ingotd frees memory in steps) falls
        into this server's next measurement, not into another's."""
        if not self.keeps_versions:
            return
        got = self.ctl("get", KEY, "--write-out=json")
        done = got
        if got.returncode == 0:
            done = self.ctl("compact", "--physical", str(json.loads(got.stdout)["header"]["revision"]))
        if done.returncode != 0 and "has been compacted" not in done.stderr:
            raise ServerError(f"{self.name} could not be compacted: {done.stderr.strip()}")


class Ingotd(Server):
    name = "ingotd"

    def command(self):
        self.endpoint = None
        return [self.flags.ingotd, "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0",
                f"--replicas={self.flags.replicas}", *self.flags.daemon_flag]

    def variables(self):
        """Its Unix socket is in its folder, not among those of other instances."""
        session = os.path.join(self.folder, "ingot")
        os.makedirs(session, exist_ok=True)
        return {"XDG_RUNTIME_DIR": self.folder, "RUNTIME_DIRECTORY": session}

    def find_endpoint(self):
        found = re.search(r" API on ([^\s,]+)", self.log())
        self.endpoint = found[1] if found else None


class Etcd(Server):
    """One member."""

    def __init__(self, flags, data, parent):
        super().__init__(flags, parent)
        self.name = f"etcd {data}"

    def command(self):
        self.endpoint = f"127.0.0.1:{free_port()}"
        peer = f"http://127.0.0.1:{free_port()}"
        return [self.flags.etcd, f"--data-dir={self.folder}/data", f"--listen-client-urls=http://{self.endpoint}",
                f"--advertise-client-urls=http://{self.endpoint}", f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"]


class Empty(Server):
    """Its handlers answer at once with a header, and keep nothing."""
    name = "empty"
    keeps_versions = False
    ROLES = {"loop": "@empty-loop", "grpc": "@empty-server"}

    def command(self):
        self.endpoint = f"127.0.0.1:{free_port()}"
        return [self.flags.front_end, self.ROLES[self.flags.ceiling], self.endpoint]


def servers_of(flags):
    """Not yet started."""
    parents = {"disk": flags.disk_folder, "tmpfs": flags.tmpfs_folder}
    # The path of a Unix socket has at most 107 bytes, so ingotd's folder is in a short one.
    servers = [Ingotd(flags, "/tmp")] + [Etcd(flags, data, parents[data]) for data in flags.data]
    return servers + ([] if flags.ceiling == "none" else [Empty(flags)])
