"""etcd's own dashboard over a daemon of three replicas whose leader dies, and then its front end: Prometheus scrapes
the clients' port, as it would an etcd's, and every query of every panel is evaluated. Fails if one that has a
meaning here has no answer. With --svg=FILE the panels are drawn.

Exit code: 0 no such panel is empty; 1 one is; 2 bad arguments; 77 if the dashboard or Prometheus cannot be had."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import binaries
import panels
import players
from tests.daemon import ingot_daemon
from tests.services.etcd.etcd_servers import ETCDCTL, ctl_environment, free_port

NOT_HERE = 77  # as tests/summary.py understands it
SCRAPES_EVERY_S = 1
WINDOW = "6s"  # stands for Grafana's $__rate_interval
JOB = "etcd"
# Panels that stay empty, and why.
EMPTY = {"Disk Sync Duration": "the state is in memory", "Peer Traffic In": "replicas share memory",
         "Peer Traffic Out": "replicas share memory", "Peer round trip time": "replicas share memory"}


class Prometheus:
    """Scrapes one address, as a block."""

    def __init__(self, target):
        self.target = target

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        config = os.path.join(self.folder.name, "prometheus.yml")
        with open(config, "w") as file:
            json.dump({"global": {"scrape_interval": f"{SCRAPES_EVERY_S}s"},
                       "scrape_configs": [{"job_name": JOB, "static_configs": [
                           {"targets": [self.target], "labels": {"instance": "ingot"}}]}]}, file)
        self.address = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder.name}/data",
             f"--web.listen-address={self.address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ingot_daemon.wait_until(self.scrapes, "Prometheus scrapes the daemon")
        return self

    def scrapes(self):
        try:
            return self.values("up", time.time() - 60, time.time()) != []
        except OSError:
            if self.process.poll() is not None:
                raise AssertionError("Prometheus did not start") from None
            return False

    def values(self, query, begin, end):
        """(labels, [(seconds since `begin`, value)]) by series; what is no number is left out."""
        parameters = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": SCRAPES_EVERY_S})
        with urllib.request.urlopen(f"http://{self.address}/api/v1/query_range?{parameters}") as answer:
            found = json.load(answer)["data"]["result"]
        series = [(each["metric"], [(at - begin, float(value)) for at, value in each["values"] if value != "NaN"])
                  for each in found]
        return [each for each in series if each[1]]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(ingot_daemon.WATCHDOG_S)
        self.folder.cleanup()


class Clients:
    """What makes calls until the block ends: a load, a watch, a lease that is kept, and calls that are refused."""

    def __init__(self, endpoint, seconds):
        self.endpoint = endpoint
        self.ctl = [ETCDCTL, f"--endpoints={endpoint}"]
        self.load = [ingot_daemon.INGOT_LOAD, f"--endpoint={endpoint}", f"--duration={seconds + 60}s", "--clients=4",
                     "--rate=400"]

    def __enter__(self):
        self.processes = []
        lease = re.search("lease ([0-9a-f]+)", self.run("lease", "grant", "60"))[1]
        for words in (self.load, [*self.ctl, "watch", "--prefix", "k"], [*self.ctl, "lease", "keep-alive", lease]):
            self.processes.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                   env=ctl_environment()))
        return self

    def run(self, *words):
        return subprocess.run([*self.ctl, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=ctl_environment()).stdout

    def for_a_while(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.refused()
            time.sleep(0.2)

    def refused(self):
        """FAILED_PRECONDITION, but for the first time: there is such a lease."""
        body = json.dumps({"TTL": "1000", "ID": "77"}).encode()
        try:
            urllib.request.urlopen(f"http://{self.endpoint}/v3/lease/grant", body).close()
        except OSError:  # an HTTPError is one, too
            pass

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait(ingot_daemon.WATCHDOG_S)


def shown(panel, prometheus, begin, end):
    """The panel with all its series, and whether a query found none."""
    series, lacking = [], False
    for target in panel["targets"]:
        query = target["expr"].replace("$__rate_interval", WINDOW).replace("$cluster", JOB)
        found = prometheus.values(query, begin, end)
        lacking = lacking or not found
        for labels, points in found:
            name = target.get("legendFormat") or panel["title"]
            series.append((re.sub(r"{{(\w+)}}", lambda found: labels.get(found[1], ""), name).strip(), points))
    unit = panel["yaxes"][0]["format"] if "yaxes" in panel else panel["format"]
    drawn = panels.Panel(panel["title"], panel["type"], unit, panel.get("span"), series, EMPTY.get(panel["title"]))
    return drawn, lacking


def run(seconds):
    """Rows of panels, and what happened when, over a time with both deaths."""
    with open(players.built("mixin")[0]) as file:
        dashboard = json.load(file)
    with ingot_daemon.Daemon("--replicas=3") as daemon, Prometheus(daemon.endpoint) as prometheus, \
            Clients(daemon.endpoint, seconds) as clients:
        clients.for_a_while(seconds / 10)  # until rates have samples
        begin, marks = time.time(), []
        for target in ("leader", "front-end"):
            clients.for_a_while(seconds / 3)
            marks.append((time.time() - begin, f"drill kill {target}"))
            ingot_daemon.ctl(daemon.endpoint, "drill", "kill", target)
        clients.for_a_while(seconds / 3)
        end = time.time()
        rows = [[shown(panel, prometheus, begin, end) for panel in row["panels"]] for row in dashboard["rows"]]
    return rows, end - begin, marks


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/dashboard.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, metavar="N", help="how long the run is (60)")
    parser.add_argument("--svg", metavar="FILE", help="where the panels are drawn (nowhere)")
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built; ingotctl and "
                        "ingot-load are taken from the folders beside it")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # dashboard.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return parser.parse_args(arguments)


def main(arguments):
    flags = parse(arguments)
    if not shutil.which("prometheus"):
        print("SKIPPED: there is no prometheus here (apt install prometheus)")
        return NOT_HERE
    svg = os.path.abspath(flags.svg) if flags.svg else None
    binaries.use("tests/clients/dashboard.sh", flags.ingotd, flags.build)
    try:
        rows, seconds, marks = run(flags.seconds)
    except players.NotHere as reason:
        print(f"SKIPPED: {reason}")
        return NOT_HERE
    found = [each for row in rows for each in row]
    for panel, _ in found:
        print(f"{panel.title}: {len(panel.series)} series{'' if panel.series else ', ' + str(panel.reason)}")
    if svg:
        with open(svg, "w") as file:
            drawn = [[panel for panel, _ in row] for row in rows]
            file.write(panels.svg("etcd's own dashboard, over Ingot", drawn, seconds, marks))
    wrong = [panel.title for panel, lacking in found if lacking != (panel.title in EMPTY)]
    if wrong:
        print(f"a query without an answer, or one that should have none: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
