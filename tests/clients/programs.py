"""Programs that were written for etcd, each with a daemon of three replicas. CoreDNS, Patroni, etcd3gw and etcdctl
make-mirror go on while the leader is killed, and then the front end; etcdctl's checks run undisturbed.

Exit code: 0 all went well; 1 otherwise; 2 bad arguments; 77 if no program can be had."""

import argparse
import os
import shutil
import sys

import binaries
import checks
import counting
import databases
import mirrors
import names
import players
from tests.daemon import ingot_daemon
from tests.services.etcd import etcd_servers

NOT_HERE = 77  # as tests/summary.py understands it


def coredns(words, daemon):
    if not shutil.which("dig"):
        raise players.NotHere("there is no dig here (apt install bind9-dnsutils)")
    return names.play(words, daemon)


def from_etcd(words, daemon):
    with etcd_servers.Etcd() as etcd:
        return mirrors.play(words, etcd.endpoint, daemon.endpoint, daemon)


def into_etcd(words, daemon):
    with etcd_servers.Etcd() as etcd:
        return mirrors.play(words, daemon.endpoint, etcd.endpoint, daemon)


def perf(words, daemon):
    return checks.play(words, daemon, "perf")


def datascale(words, daemon):
    return checks.play(words, daemon, "datascale")


# What build.sh calls the program, and what is done with it.
PROGRAMS = {"coredns": ("coredns", coredns), "patroni": ("patroni", databases.play),
            "etcd3gw": ("etcd3gw", counting.play)}
for version, builds in (("3.4", "etcdctl"), ("3.6", "etcdctl-3.6")):
    for what, play in (("mirror-from-etcd", from_etcd), ("mirror-into-etcd", into_etcd), ("check-perf", perf),
                       ("check-datascale", datascale)):
        PROGRAMS[f"{what}-{version}"] = (builds, play)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/programs.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built; ingotctl is "
                        "taken from the folder beside it")
    parser.add_argument("--etcd", metavar="PATH", help="another etcd than Debian's at the other end of mirrors, such "
                        "as what tests/clients/build.sh etcd-3.6 prints")
    parser.add_argument("--program", action="append", metavar="NAME", choices=list(PROGRAMS),
                        help=f"one of {', '.join(PROGRAMS)}; can be repeated (all)")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # programs.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return parser.parse_args(arguments)


def prepare(flags):
    if flags.etcd:
        etcd_servers.ETCD = os.path.abspath(flags.etcd)
    binaries.use("tests/clients/programs.sh", flags.ingotd, flags.build)


def main(arguments):
    flags = parse(arguments)
    prepare(flags)
    played = failed = 0
    for name in flags.program or PROGRAMS:
        builds, play = PROGRAMS[name]
        try:
            words = players.built(builds)
            with ingot_daemon.Daemon("--replicas=3") as daemon:
                notes = play(words, daemon)
            print("\n  ".join([name, *notes]), flush=True)
            played += 1
        except players.NotHere as reason:
            print(f"SKIPPED: {name}: {reason}", flush=True, file=sys.stderr)
        except AssertionError as error:
            print(f"{name}: {error}", flush=True, file=sys.stderr)
            failed += 1
    return 1 if failed else 0 if played else NOT_HERE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
