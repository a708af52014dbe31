"""The alerts of etcd's mixin over the metrics of a daemon: promtool evaluates them on the series that the clients' port
serves, once as they are, when nothing may fire, and once for each alert with those changed that it is about, when it
has to.

Exit code: 0 all is so; 1 otherwise; 2 bad arguments; 77 if the alerts or promtool cannot be had."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import binaries
import players
from gateway import Gateway
from tests.daemon import ingot_daemon

NOT_HERE = 77  # as tests/summary.py understands it
SERIES = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.M)
LABELS = {"job": "etcd", "instance": "ingot"}  # as Prometheus adds them
MINUTES = 60
# Never fire, and why.
SILENT = {"etcdMemberCommunicationSlow": "replicas share memory", "etcdHighFsyncDurations": "the state is in memory",
          "etcdHighCommitDurations": "the state is in memory",
          "etcdDatabaseHighFragmentationRatio": "all memory that is counted is in use"}


def rises(by):
    return f"0+{by}x{MINUTES}"


def stays(value):
    return f"{value:.6f}+0x{MINUTES}"


def unavailable(labels, _):
    return rises(60) if 'grpc_method="Put",grpc_code="Unavailable"' in labels else None


def slow(labels, _):
    return rises(60) if 'grpc_method="Put"' in labels and 'le="+Inf"' in labels else None


# What happens to which metric when the alert has to fire: values by labels and the quota, or None: as they are.
TROUBLE = {
    "etcdMembersDown": ("up", lambda *_: stays(0)),
    "etcdInsufficientMembers": ("up", lambda *_: stays(0)),
    "etcdNoLeader": ("etcd_server_has_leader", lambda *_: stays(0)),
    "etcdHighNumberOfLeaderChanges": ("etcd_server_leader_changes_seen_total", lambda *_: rises(1)),
    "etcdHighNumberOfFailedGRPCRequests": ("grpc_server_handled_total", unavailable),
    "etcdGRPCRequestsSlow": ("grpc_server_handling_seconds_bucket", slow),
    "etcdHighNumberOfFailedProposals": ("etcd_server_proposals_failed_total", lambda *_: rises(600)),
    "etcdDatabaseQuotaLowSpace": ("etcd_mvcc_db_total_size_in_bytes", lambda _, quota: stays(quota * 0.99)),
    "etcdExcessiveDatabaseGrowth": ("etcd_mvcc_db_total_size_in_bytes", lambda _, quota: rises(quota / 100)),
}


def scraped(daemon, rules):
    """(metric, labels, value) of all series that the rules may be about."""
    with open(rules) as file:
        words = set(re.findall(r"\w+", file.read()))
    with urllib.request.urlopen(f"http://{daemon.endpoint}/metrics") as answer:
        found = SERIES.findall(answer.read().decode())
    return [*((name, labels, float(value)) for name, labels, value in found if name in words), ("up", "", 1.0)]


def input_series(found, trouble):
    """The series for promtool, changed as an entry of TROUBLE says."""
    quota = next(value for name, _, value in found if name == "etcd_server_quota_backend_bytes")
    own = ",".join(f'{name}="{value}"' for name, value in LABELS.items())
    changed, series = 0, []
    for name, labels, value in found:
        values = trouble[1](labels, quota) if trouble and name == trouble[0] else None
        changed += values is not None
        series.append({"series": f"{name}{{{labels},{own}}}" if labels else f"{name}{{{own}}}",
                       "values": values or stays(value)})
    if trouble and not changed:
        raise AssertionError(f"there is no {trouble[0]}")
    return series


def fires(found, rules, alert, trouble):
    """promtool's test: `alert` fires in the trouble; or without, nothing does."""
    firing = f'count(ALERTS{{alertname=~"{alert or ".*"}",alertstate="firing"}}) > bool 0'
    test = {"rule_files": [os.path.abspath(rules)], "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": input_series(found, trouble),
        "promql_expr_test": [{"expr": firing, "eval_time": f"{MINUTES - 5}m",
                              "exp_samples": [{"labels": "{}", "value": 1}] if alert else []}]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(test, file)
        file.flush()
        return promtool("test", "rules", file.name)


def promtool(*words):
    """What it complains of; empty if it is content."""
    done = subprocess.run(["promtool", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=ingot_daemon.WATCHDOG_S)
    return done.stdout if done.returncode else ""


def names_of(rules):
    with open(rules) as file:
        return {rule["alert"] for group in json.load(file)["groups"] for rule in group["rules"]}


def run(rules):
    """Sentences on what is wrong."""
    names = names_of(rules)
    wrong = [f"{name} is not looked at" for name in sorted(names - TROUBLE.keys() - SILENT.keys())]
    with ingot_daemon.Daemon("--replicas=3", "--metrics=extensive") as daemon:
        Gateway(daemon.endpoint).put("key", "value")
        found = scraped(daemon, rules)
    if said := promtool("check", "rules", rules) + fires(found, rules, None, None):
        wrong.append(f"on a healthy daemon: {said}")
    for name, trouble in TROUBLE.items():
        said = fires(found, rules, name, trouble)
        print(f"{name}: {'does not fire' if said else 'fires'}")
        if said:
            wrong.append(f"{name} does not fire: {said}")
    for name, reason in SILENT.items():
        print(f"{name}: never fires, {reason}")
    return wrong


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/alerts.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # alerts.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return parser.parse_args(arguments)


def main(arguments):
    flags = parse(arguments)
    if not shutil.which("promtool"):
        print("SKIPPED: there is no promtool here (apt install prometheus)")
        return NOT_HERE
    try:
        rules = players.built("mixin-alerts")[0]
    except players.NotHere as reason:
        print(f"SKIPPED: {reason}")
        return NOT_HERE
    binaries.use("tests/clients/alerts.sh", flags.ingotd, flags.build)
    wrong = run(rules)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
