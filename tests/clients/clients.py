"""Plays one scenario with clients of several languages, each on a server of its own, and compares what they are
answered with what scenario.txt expects, and with --target=both ingotd's answers with etcd's.

Exit code: 0 all answers are as expected; 1 otherwise; 2 bad arguments; 77 if no client can be had."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

import answers
import players
import scenario
from tests.daemon import ingot_daemon
from tests.services.etcd import etcd_servers

NOT_HERE = 77  # as tests/summary.py understands it
REPLICAS = 3
LOAD_S = 0.3   # from the first calls of the last step to SIGTERM
GONE_S = 0.2   # calls go on so long after the server has left
CLEAN = """
step clean
  call etcdserverpb.KV/DeleteRange {"key": "clients/", "range_end": "clients0"}
  etcdctl del --prefix clients/
  answer OK *
"""


class Ingotd(ingot_daemon.Daemon):
    def __init__(self):
        super().__init__(f"--replicas={REPLICAS}")

    def leave(self):
        """SIGTERM; returns what is wrong with its end, or None."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(ingot_daemon.WATCHDOG_S)
        return f"ingotd exited with {code} on SIGTERM" if code else None


class Etcd(etcd_servers.Etcd):
    socket = None

    def leave(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(etcd_servers.WATCHDOG_S)


class Given:
    """A server that runs already, and goes on: the step in which it leaves is left out."""

    def __init__(self, endpoint):
        self.endpoint, self.socket = endpoint, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Played:
    """What one client was answered by one server: (code, text) by step, and sentences about what is wrong."""

    def __init__(self, client, target):
        self.client, self.target = client, target
        self.answers, self.complaints, self.notes = {}, [], []


def drain_complaints(text, revisions_before):
    """Of the step in which the server leaves: each call has completed or is UNAVAILABLE, and completed ones have a
    revision each; the calls without an answer may have the others."""
    counted = json.loads(text)
    found = [f"{count} calls ended with {code} when the server left" for code, count in counted["failed"].items()
             if answers.code_in_capitals(code) != "UNAVAILABLE"]
    revisions = sorted(counted["revisions"])
    unknown = sum(counted["failed"].values()) + counted.get("unfinished", 0)
    if not revisions or len(set(revisions)) != len(revisions) or revisions[0] <= revisions_before:
        found.append(f"{len(revisions)} completed calls have {len(set(revisions))} new revisions")
    elif revisions[-1] - revisions[0] + 1 - len(revisions) > unknown:
        found.append(f"{len(revisions)} completed calls span revisions {revisions[0]} to {revisions[-1]}")
    return found


def play(name, client, target, server, steps):
    played = Played(name, target)

    def leave():
        time.sleep(LOAD_S)
        trouble = server.leave()
        played.complaints += [trouble] if trouble else []
        time.sleep(GONE_S)

    endpoint = client.endpoint(server)
    mine = [step for step in steps if step.is_for(name)]
    if isinstance(server, Given):
        mine = [step for step in mine if step.kind != "until"]
    clean = client.play(endpoint, scenario.parse(CLEAN), 0, leave)["clean"]
    if clean[0] != "OK":
        raise AssertionError(f"{name} cannot speak to {target}: {clean[0]} {clean[1]}")
    base = int(json.loads(clean[1])["header"]["revision"])
    said = client.play(endpoint, mine, base, leave)
    for step in mine:
        code, text = said.get(step.name, (answers.SKIPPED, ""))
        if code != answers.SKIPPED:
            judge(played, step, code, text, base)
    return played


def judge(played, step, code, text, base):
    answer = answers.normal_answer(code, text, base)
    if step.kind == "until":
        counted = json.loads(text)
        # How etcd leaves is for comparison alone.
        played.complaints += drain_complaints(text, base) if played.target == "ingotd" else []
        played.notes.append(f"{step.name}: {counted['completed']} completed, then {counted['failed']}: "
                            f"{'; '.join(counted['texts'])}")
        answer = (code, "*")
    played.answers[step.name] = answer
    expected = step.expected(played.client, played.target)
    if not answers.fits(answer, expected):
        played.complaints.append(f"{step.name}: {' '.join(answer)}, not {' '.join(expected)}")


def differences(steps, ours, theirs):
    """Steps in which ingotd and etcd answer one client differently, and the scenario expects no difference."""
    for step in steps:
        both = ours.answers.get(step.name), theirs.answers.get(step.name)
        same = step.expected(ours.client, ours.target) == step.expected(ours.client, theirs.target)
        if None not in both and both[0] != both[1] and same and step.expected(ours.client, ours.target)[1] != "*":
            yield f"{step.name}: {' '.join(both[0])} from {ours.target}, {' '.join(both[1])} from {theirs.target}"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/run.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built")
    parser.add_argument("--endpoint", metavar="HOST:PORT", help="a server that runs already, instead of an ingotd")
    parser.add_argument("--target", choices=["ingotd", "etcd", "both"], default="ingotd")
    parser.add_argument("--client", action="append", metavar="NAME", choices=list(players.CLIENTS),
                        help=f"one of {', '.join(players.CLIENTS)}; can be repeated (all)")
    parser.add_argument("--step", action="append", metavar="NAME", help="only this step of the scenario, such as "
                        "drain; can be repeated. Many steps expect what those before them did (all)")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # run.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return parser.parse_args(arguments)


def prepare(flags):
    if flags.ingotd:
        ingot_daemon.INGOTD = os.path.abspath(flags.ingotd)
    elif flags.build and not flags.endpoint and flags.target != "etcd":
        if subprocess.run(["bazel", "build", "//services/ingotd"], cwd=flags.build, stdout=sys.stderr).returncode:
            sys.exit("tests/clients/run.sh: the build failed; see above")
        os.chdir(os.path.join(flags.build, "bazel-bin"))


def clients_here(names):
    """The clients that can be had, by name; says of the others why not."""
    found = {}
    for name in names:
        try:
            found[name] = players.CLIENTS[name](name, players.built("descriptors")[0])
        except players.NotHere as reason:
            print(f"SKIPPED: {name}: {reason}", flush=True, file=sys.stderr)
    return found


def show(played, compared, output):
    if output == "json":
        print(json.dumps({"client": played.client, "target": played.target, "steps": len(played.answers),
                          "complaints": played.complaints, "differences": compared, "notes": played.notes,
                          "answers": {name: " ".join(each) for name, each in played.answers.items()}}), flush=True)
        return
    wrong = [f"  {each}" for each in played.complaints + compared]
    print("\n".join([f"{played.client} on {played.target}: {len(played.answers)} steps, {len(wrong)} not as expected",
                     *wrong, *[f"  ({each})" for each in played.notes]]), flush=True)


def main(arguments):
    flags = parse(arguments)
    with open(os.path.join(players.HERE, "scenario.txt")) as file:
        steps = scenario.parse(file.read())
    for name in set(flags.step or ()) - {step.name for step in steps}:
        print(f"tests/clients/run.sh: --step={name} is no step of scenario.txt; see --help", file=sys.stderr)
        return 2
    steps = [step for step in steps if flags.step is None or step.name in flags.step]
    here = clients_here(flags.client or players.CLIENTS)
    if not here:
        return NOT_HERE
    prepare(flags)
    servers = {"ingotd": (lambda: Given(flags.endpoint)) if flags.endpoint else Ingotd, "etcd": Etcd}
    wrong = 0
    for name, client in here.items():
        played = []
        for target in ["ingotd", "etcd"] if flags.target == "both" else [flags.target]:
            with servers[target]() as server:
                if client.endpoint(server) is None:
                    print(f"SKIPPED: {name} on {target}, which has no Unix socket", flush=True, file=sys.stderr)
                    continue
                played.append(play(name, client, target, server, steps))
            compared = list(differences(steps, *played)) if len(played) == 2 else []
            show(played[-1], compared, flags.output)
            wrong += len(played[-1].complaints) + len(compared)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
