"""Debian's Prometheus on a free loopback port, scraping one daemon with the shipped configuration."""

import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = "deploy/prometheus.yml"
ALERTS = ("deploy/alerts.yml", "deploy/etcd-alerts.yml")
WATCHDOG_S = 300  # ends a test that hangs; it limits no time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def scrape(address):
    """The page at a daemon's metrics address."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=WATCHDOG_S) as answer:
        return answer.read().decode()


class Prometheus:
    """Use as a context manager. The shipped files are used unchanged but for the daemon's address and the intervals,
    and with both files of alerts."""

    def __init__(self, target, interval="1s"):
        self.target = target
        self.interval = interval

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        with open(CONFIG) as file:
            text = file.read()
        text, targets = re.subn(r"127\.0\.0\.1:9464", self.target, text)
        text, intervals = re.subn(r"(scrape_interval|evaluation_interval): \w+", rf"\1: {self.interval}", text)
        assert targets == 1 and intervals == 2, text
        text = text.replace("  - alerts.yml\n", "  - alerts.yml\n  - etcd-alerts.yml\n")
        config = self.folder.name + "/prometheus.yml"
        with open(config, "w") as file:
            file.write(text)
        for alerts in ALERTS:
            shutil.copy(alerts, self.folder.name)
        self.log = open(self.folder.name + "/log", "w+")
        try:
            for attempts_left in range(4, -1, -1):  # another program may take the free port first
                self.start(config)
                self.wait_until(lambda: self.process.poll() is not None or self.ready(), "Prometheus to be ready")
                if self.process.poll() is None:
                    return self
                self.log.seek(0)
                said = self.log.read()
                assert attempts_left > 0 and "address already in use" in said, "Prometheus left:\n" + said
                print("RETRIED: another program took Prometheus's port")
        except BaseException:
            self.__exit__()
            raise

    def start(self, config):
        self.address = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder.name}/data",
             f"--web.listen-address={self.address}"], stdout=self.log, stderr=self.log)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(WATCHDOG_S)
        self.log.close()
        self.folder.cleanup()

    def get(self, path, **parameters):
        url = f"http://{self.address}{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=WATCHDOG_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def ready(self):
        try:
            return "Ready" in self.get("/-/ready")
        except (urllib.error.URLError, ConnectionError):
            return False

    def query(self, expression):
        """The samples of an instant query, as (labels, value). Fails on an error."""
        answer = json.loads(self.get("/api/v1/query", query=expression))
        assert answer["status"] == "success", f"{expression}\n{answer}"
        return [(sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]]

    def rules(self):
        groups = json.loads(self.get("/api/v1/rules"))["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    @staticmethod
    def wait_until(condition, what):
        deadline = time.monotonic() + WATCHDOG_S
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.2)
