#!/usr/bin/env python3
"""Drives ten seconds of load through a server of etcd's API and prints what it saw: half of the time 1 client, half of
the time 64, both with a check that no write was lost. deploy/run.sh calls it.

    deploy/short_load.py --endpoint=127.0.0.1:2379
    deploy/short_load.py --endpoint=127.0.0.1:2379 --compare    and the same through an etcd, by turns

--compare starts Debian's etcd with one member, on free ports and a temporary folder, and stops it. Exit codes: 0 every
check held; 1 one did not, or etcd could not be started; 2 a flag is unknown.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

INGOT_LOAD = "services/ingot_load/ingot-load"
LOADS = [("--clients=1",), ("--clients=64", "--connections=8")]
CONNECT = "30s"  # for a server that starts
STARTS = 3       # of etcd, on ports that were free; another program may take one first
STOP_S = 10      # for etcd to end by itself


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"deploy/short_load.py: {message.replace('unrecognized arguments:', 'unknown flag')}; see --help\n")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Etcd:
    """One member, on free ports, with its state in a temporary folder. Use as a context manager."""

    def __enter__(self):
        program = shutil.which("etcd")
        if program is None:
            sys.exit("deploy/short_load.py: there is no etcd; deploy/install.sh --compare installs it")
        self.folder = tempfile.mkdtemp(prefix="ingot-etcd-")
        for _ in range(STARTS):
            self.endpoint = f"127.0.0.1:{free_port()}"
            peer = f"http://127.0.0.1:{free_port()}"
            with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
                self.process = subprocess.Popen(
                    [program, f"--data-dir={self.folder}/data", f"--listen-client-urls=http://{self.endpoint}",
                     f"--advertise-client-urls=http://{self.endpoint}", f"--listen-peer-urls={peer}",
                     f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            if self.answers():
                return self
            self.stop()
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            said = log.read().splitlines()[-1:]
        shutil.rmtree(self.folder, ignore_errors=True)
        sys.exit(f"deploy/short_load.py: etcd could not be started: {' '.join(said)}")

    def answers(self):
        done = subprocess.run([Server.program, f"--endpoint={self.endpoint}", "--count=1", f"--timeout={CONNECT}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A server under load."""
    program = INGOT_LOAD

    def __init__(self, name, endpoint):
        self.name, self.endpoint = name, endpoint

    def load(self, flags, duration):
        """The report of one load, with its name and number of clients; None if there is none."""
        done = subprocess.run([self.program, f"--endpoint={self.endpoint}", f"--duration={duration}", "--check",
                               f"--timeout={CONNECT}", "-o", "json", *flags], stdout=subprocess.PIPE, text=True)
        if not done.stdout.strip():
            return None
        return {**json.loads(done.stdout), "name": self.name, "clients": flags[0].partition("=")[2],
                "held": done.returncode == 0}


def milliseconds(microseconds):
    return f"{microseconds / 1000:.2f} ms"


def table(reports):
    """Lines of the figures, columns aligned."""
    rows = [("SERVER", "CLIENTS", "PER S", "P50", "P99", "ERRORS")]
    rows += [(r["name"], r["clients"], f"{r['throughput_per_s']:.0f}", milliseconds(r["p50_us"]),
              milliseconds(r["p99_us"]), str(r["failed"] + r["unknown"])) for r in reports]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in
                                                            zip(row[1:], widths[1:])]) for row in rows)


def verdict(report):
    if report["held"]:
        return (f"check held: {report['name']}, {report['clients']} clients: "
                f"{report['acknowledged']} requests, no acknowledged write was lost")
    return (f"check FAILED: {report['name']}, {report['clients']} clients: lost {report['lost']}, "
            f"wrong {report['wrong']}, stale reads {report['stale_reads']}")


def run(servers, duration, remark=None):
    """Loads the servers by turns; returns whether every check held."""
    reports = [server.load(flags, duration) for flags in LOADS for server in servers]
    known = [report for report in reports if report]
    if known:
        print(table(known))
    if known and remark:
        print(remark)
    for report in known:
        print(verdict(report))
    return len(known) == len(reports) and all(report["held"] for report in known)


def main():
    parser = Parser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter,
                    allow_abbrev=False)
    parser.add_argument("--endpoint", default="127.0.0.1:2379", help="where the daemon listens")
    parser.add_argument("--compare", action="store_true", help="load an etcd, too")
    parser.add_argument("--duration", default="5s", help="of each load; there are two for each server")
    parser.add_argument("--ingot-load", default=INGOT_LOAD, help="path of ingot-load")
    flags = parser.parse_args()
    Server.program = flags.ingot_load
    servers = [Server("ingotd", flags.endpoint)]
    if not flags.compare:
        sys.exit(not run(servers, flags.duration))
    with Etcd() as etcd:
        held = run([*servers, Server("etcd", etcd.endpoint)], flags.duration,
                   f"etcd has one member here, which writes to disk ({os.path.dirname(etcd.folder)})")
    sys.exit(not held)


if __name__ == "__main__":
    main()
