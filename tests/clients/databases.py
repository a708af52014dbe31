"""Patroni with three PostgreSQL instances: one is elected and stays primary through deaths of the store's leader and of
its front end, and another one takes over when it dies. At no time do two take writes."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from players import NotHere
from tests.daemon.ingot_daemon import WATCHDOG_S, ctl, wait_until
from tests.services.etcd.etcd_servers import free_port

POSTGRES = "/usr/lib/postgresql/15/bin"
INSTANCES = 3
TTL_S, RETRY_S = 20, 3  # Patroni's least: a primary that cannot renew its key for TTL_S is replaced
PASSWORD = "test"


class Instance:
    """One Patroni with its PostgreSQL, in a folder of its own."""

    def __init__(self, words, endpoint, folder, number, user):
        self.name, self.words, self.user = f"db{number}", words, user
        self.folder = os.path.join(folder, self.name)
        os.mkdir(self.folder)
        self.rest, self.port = f"127.0.0.1:{free_port()}", free_port()
        self.config = os.path.join(self.folder, "patroni.json")
        with open(self.config, "w") as file:
            json.dump(self._config(endpoint), file)
        if user:
            for path in (self.folder, self.config):
                shutil.chown(path, user)

    def _config(self, endpoint):
        login = {"username": "postgres", "password": PASSWORD}
        return {
            "scope": "ingot-test", "name": self.name,
            "restapi": {"listen": self.rest, "connect_address": self.rest},
            "etcd3": {"host": endpoint},
            "bootstrap": {"dcs": {"ttl": TTL_S, "loop_wait": 1, "retry_timeout": RETRY_S,
                                  "postgresql": {"use_pg_rewind": False}},
                          "initdb": [{"encoding": "UTF8"}, {"auth-host": "md5"}, {"auth-local": "trust"}]},
            "postgresql": {"listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}",
                           "data_dir": os.path.join(self.folder, "data"), "bin_dir": POSTGRES,
                           "pgpass": os.path.join(self.folder, "pgpass"),
                           "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 md5",
                                      "host replication all 127.0.0.1/32 md5"],
                           "parameters": {"unix_socket_directories": self.folder, "fsync": "off"},
                           "authentication": {"superuser": login, "replication": login}}}

    def start(self):
        self.log = open(os.path.join(self.folder, "log"), "w")
        as_user = ["runuser", "-u", self.user, "--"] if self.user else []
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.process = subprocess.Popen([*as_user, *self.words, self.config], stdout=self.log, stderr=self.log,
                                        env=environment, start_new_session=True, cwd=self.folder)

    def role(self):
        """As Patroni says; None if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.rest}/patroni", timeout=WATCHDOG_S) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read()
        except OSError:
            return None
        said = json.loads(text)
        return said.get("role") if said.get("state") == "running" else None

    def run(self, statement):
        """True: it was carried out."""
        return subprocess.run([f"{POSTGRES}/psql", f"--host={self.folder}", f"--port={self.port}",
                               "--username=postgres", f"--command={statement}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=WATCHDOG_S).returncode == 0

    def takes_writes(self):
        return self.run("insert into written default values")

    def kill(self):
        """Patroni and its PostgreSQL, at once."""
        try:
            with open(os.path.join(self.folder, "data/postmaster.pid")) as file:
                os.killpg(os.getpgid(int(file.readline())), signal.SIGKILL)
        except (OSError, ValueError):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(WATCHDOG_S)
        self.log.close()


class Watcher(threading.Thread):
    """Writes to all instances, one after the other. A round in which an instance takes a write after another one did,
    and the first one takes one again behind it, shows two primaries."""

    def __init__(self, instances):
        super().__init__(daemon=True)
        self.instances, self.written, self.two, self.ends = instances, {}, [], threading.Event()

    def run(self):
        while not self.ends.is_set():
            taken = [each for each in self.instances if each.takes_writes()]
            for each in taken:
                self.written[each.name] = self.written.get(each.name, 0) + 1
            if len(taken) > 1 and taken[0].takes_writes():
                self.two.append([each.name for each in taken])
            time.sleep(0.05)


def primary(instances):
    """The one primary, once there is one and all others that live follow it."""
    found = []

    def settled():
        roles = [each.role() for each in instances]
        found[:] = [each for each, role in zip(instances, roles) if role in ("primary", "master")]
        return len(found) == 1 and roles.count("replica") == len(instances) - 1

    wait_until(settled, "one primary, and replicas of it")
    return found[0]


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def play(words, daemon):
    """Returns what is worth a note."""
    if not os.access(f"{POSTGRES}/initdb", os.X_OK):
        raise NotHere("there is no PostgreSQL 15 here (apt install postgresql-15)")
    user = None
    if os.geteuid() == 0:  # PostgreSQL does not run as root
        user = pwd.getpwnam("postgres").pw_name
        if subprocess.run(["runuser", "-u", user, "--", words[0], "--version"], stdout=subprocess.DEVNULL).returncode:
            raise NotHere(f"{user} may not run {words[0]}; set XDG_CACHE_HOME to a folder that it may read, "
                           "and PATH to a python3 that it may run")
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        instances = [Instance(words, daemon.endpoint, folder, number, user) for number in range(INSTANCES)]
        try:
            for each in instances:
                each.start()
            return through_deaths(instances, daemon)
        finally:
            for each in instances:
                each.kill()


def through_deaths(instances, daemon):
    first = primary(instances)
    require(first.run("create table written (number serial, at timestamp default now())"), "no table was made")
    watcher = Watcher(instances)
    watcher.start()
    for target in ("leader", "front-end"):
        ctl(daemon.endpoint, "drill", "kill", target)
        before = watcher.written.get(first.name, 0)
        time.sleep(RETRY_S + TTL_S)  # in which a primary that has lost its key would have been replaced
        require(primary(instances) is first, f"the primary changed when the {target} died")
        require(watcher.written.get(first.name, 0) > before, "the primary takes no writes")
    began = time.monotonic()
    first.kill()
    others = [each for each in instances if each is not first]
    second = primary(others)
    wait_until(lambda: watcher.written.get(second.name, 0) > 0, "the new primary takes writes")
    took_s = time.monotonic() - began
    watcher.ends.set()
    watcher.join(WATCHDOG_S)
    require(not watcher.two, f"two took writes: {watcher.two}")
    require(set(watcher.written) == {first.name, second.name}, f"others took writes: {watcher.written}")
    return [f"{first.name} was primary through both deaths, {second.name} {took_s:.0f} s after its own",
            f"writes taken: {watcher.written}, never by two at a time"]
