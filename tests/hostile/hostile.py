"""Attacks on a server of this machine's own, each with an ordinary client beside it: what the server did with the
attacker, what that cost in memory and descriptors, and what the ordinary client noticed.

A server is started for each attack on a loopback port, and stopped after it. Every attack is bounded in time and
count. Exit code: 0 ingotd keeps what is demanded of it; 1 it does not; 2 bad arguments."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys

from attacker import ATTACKS
from servers import TARGETS
from show import comparison, paragraph
from tests.daemon import ingot_daemon
from trial import Trial, broken

P99_MS = 20  # the demand


def named_file(text):
    name, _, path = text.rpartition("=")
    if not os.path.isfile(path):
        raise argparse.ArgumentTypeError(f"there is no file {path}")
    return name, path


def parse(arguments):
    def positive(text):
        try:
            value = float(text)
        except ValueError:
            value = -1
        if value < 0:
            raise argparse.ArgumentTypeError(f"{text} is no number from 0 up")
        return value

    parser = argparse.ArgumentParser(prog="tests/hostile/run.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="attacks:\n" + "\n".join(f"  {name:20} {attack.title}"
                                                                     for name, attack in ATTACKS.items()))
    parser.add_argument("--target", choices=[*TARGETS, "both"], default="ingotd", help="both: by turns (ingotd)")
    parser.add_argument("--attack", action="append", metavar="NAME", help="one of those below; may be repeated (all)")
    parser.add_argument("--full", action="store_true", help="large sizes; default: those of the test")
    parser.add_argument("--seconds", type=positive, help="that an attack lasts (1; with --full 5)")
    parser.add_argument("--patience", type=positive, help="seconds that an attack waits for its connection to be ended "
                        "(1; with --full 12)")
    parser.add_argument("--quiet", type=positive, default=0.5, help="seconds before the attack (0.5)")
    parser.add_argument("--settle", type=positive, default=10, help="seconds in which all must be back (10)")
    parser.add_argument("--back-mib", type=positive, default=32, help="above the start, at which memory is back (32)")
    parser.add_argument("--p99", type=positive, metavar="MS", help="demand this of the ordinary client "
                        f"({P99_MS} is what a quiet machine is to keep)")
    parser.add_argument("--seed", type=int, help="of random bytes (random)")
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built")
    parser.add_argument("--daemon-flag", action="append", default=[], dest="flags", help="one for ingotd")
    parser.add_argument("--compare", action="append", metavar="NAME=FILE", type=named_file, help="attack nothing, but "
                        "show side by side what earlier runs have printed with -o json")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # run.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return completed(parser, parser.parse_args(arguments))


def completed(parser, flags):
    for name in flags.attack or []:
        if name not in ATTACKS:
            parser.error(f"there is no attack {name}")
    flags.attack = flags.attack or list(ATTACKS)
    flags.seconds = flags.seconds if flags.seconds is not None else 5 if flags.full else 1
    flags.patience = flags.patience if flags.patience is not None else 12 if flags.full else 1
    flags.seed = random.SystemRandom().randrange(2 ** 32) if flags.seed is None else flags.seed
    return flags


def build(root, flags):
    """Builds the programs, which are then found below the working folder."""
    if flags.ingotd is None and flags.target != "etcd":
        if subprocess.run(["bazel", "build", "//services/ingotd"], cwd=root, stdout=sys.stderr).returncode != 0:
            sys.exit("tests/hostile/run.sh: the build failed; see above")
        os.chdir(os.path.join(root, "bazel-bin"))
    elif flags.ingotd:
        ingot_daemon.INGOTD = os.path.abspath(flags.ingotd)


def show(result, output):
    print(json.dumps(result) if output == "json" else paragraph(result), flush=True)


def main(arguments):
    flags = parse(arguments)
    if flags.compare:
        print("\n".join(comparison(flags.compare)))
        return 0
    if flags.build:
        build(flags.build, flags)
    targets = list(TARGETS) if flags.target == "both" else [flags.target]
    if "etcd" in targets and shutil.which("etcd") is None:
        print("tests/hostile/run.sh: there is no etcd here (deploy/install.sh --tests)", file=sys.stderr)
        return 2
    kept = True
    for name in flags.attack:
        for target in targets:
            result = Trial(name, target, flags).run()
            result["broken"] = list(broken(result, flags.p99))
            show(result, flags.output)
            kept = kept and (target != "ingotd" or not result["broken"])
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
