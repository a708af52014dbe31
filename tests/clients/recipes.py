"""Plays recipes of leases with clients of several languages, while the daemon's leader and its front end are killed: a
session that is kept alive, a lock and an election that the next one gets by a hand-over and by the end of a lease, and
counting in transactions. A second holder is a second process of the same client.

Exit code: 0 all is as it should be; 1 otherwise; 2 bad arguments; 77 if no client can be had."""

import argparse
import base64
import json
import subprocess
import sys
import time

import holders
from clients import NOT_HERE, Etcd, Ingotd, prepare
from players import NotHere
from tests.daemon import ingot_daemon
from tests.services.etcd import etcd_servers

TTL_S = 20        # of sessions: longer than a busy machine stops a client, or all of them
WAITS_S = 1       # a lock is watched so long while another holds it
INCREMENTS = 20   # of each holder: on a busy machine a pair of Java's takes a second for one
SLACK_S = 1       # a remaining time is told in whole seconds


class Stage:
    """What the recipes of one client play on, and the complaints about it."""

    def __init__(self, make, server, drills):
        self.make, self.server, self.drills = make, server, drills
        self.complaints, self.notes = [], []

    def holder(self):
        return self.make(self.server.endpoint)

    def drill(self, victim):
        """Kills one that serves, where that can be done."""
        if self.drills:
            ingot_daemon.run_ctl(self.server.endpoint, "drill", "kill", victim)

    def ctl(self, *words):
        """What Debian's etcdctl says, in JSON. Asks again while the server is away."""
        end = time.monotonic() + holders.WATCHDOG_S
        while True:
            done = subprocess.run(
                [etcd_servers.ETCDCTL, f"--endpoints={self.server.endpoint}", "--write-out=json", *words],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode == 0:
                return json.loads(done.stdout)
            if time.monotonic() > end:
                raise AssertionError(f"etcdctl {' '.join(words)}: {done.stderr}")
            time.sleep(0.1)

    def key(self, name):
        """The key's fields, or None."""
        found = self.ctl("get", name).get("kvs", [])
        return found[0] if found else None

    def require(self, holds, complaint):
        if not holds:
            self.complaints.append(complaint)

    def wait_until(self, holds, what):
        end = time.monotonic() + holders.WATCHDOG_S
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"never happened: {what}")
            time.sleep(0.1)


def session(stage):
    """A session lasts longer than its time after each kill, as the client thinks and as the server knows."""
    with stage.holder() as holder:
        holder.ask("session", "s", TTL_S).text()
        holder.ask("put", "s", "recipes/session", "x").text()
        for victim in ("leader", "front-end"):
            stage.drill(victim)
            time.sleep(TTL_S + 2)
            stage.require(holder.ask("ended", "s").text() == "no", f"after the {victim}'s kill the session has ended")
            stage.require(stage.key("recipes/session"), f"after the {victim}'s kill the session's key is gone")
        holder.ask("close", "s").text()
        stage.wait_until(lambda: stage.key("recipes/session") is None, "the key of a closed session vanishes")


def abandoned(stage):
    """The keys of a session vanish when nobody keeps it alive any more, and not before."""
    with stage.holder() as holder:
        holder.ask("session", "s", TTL_S).text()
        holder.ask("put", "s", "recipes/abandoned", "x").text()
        earliest = earliest_end(stage, "recipes/abandoned")
    stage.wait_until(lambda: stage.key("recipes/abandoned") is None, "the key of an abandoned session vanishes")
    stage.require(time.monotonic() >= earliest, "an abandoned session's lease ended early")


def earliest_end(stage, key):
    """The time, of the monotonic clock, before which the lease of a key that is there cannot end."""
    asked = time.monotonic()
    lease = stage.key(key).get("lease", 0)
    return asked + stage.ctl("lease", "timetolive", f"{lease:x}")["ttl"] - SLACK_S


def has_it(pending):
    """Whether a question was answered; an error is one of the client, which ends the recipe."""
    return pending.done() and pending.text() is not None


def handed_over(stage, name, take, leave):
    """One holder has it, the other one waits, through both kills; the first leaves, and takes its place behind; the
    second is killed, and the first has it again when the lease of the dead one ends. Each has it under a key that was
    made later than the one before, which is what makes it fit for fencing."""
    with stage.holder() as first:
        with stage.holder() as second:
            first.ask("session", "s", TTL_S).text()
            second.ask("session", "s", TTL_S).text()
            made = [stage.key(first.ask(*take("first")).text())["create_revision"]]
            waits = second.ask(*take("second"))
            for victim in ("leader", "front-end"):
                stage.drill(victim)
                time.sleep(WAITS_S)
            stage.require(not has_it(waits), f"two have the {name}")
            first.ask(*leave).text()
            key = waits.text()
            made.append(stage.key(key)["create_revision"])
            again = first.ask(*take("first"))
            stage.drill("leader")
            time.sleep(WAITS_S)
            stage.require(not has_it(again), f"two have the {name} after a hand-over")
            earliest = earliest_end(stage, key)
        made.append(stage.key(again.text())["create_revision"])
        stage.require(time.monotonic() >= earliest, f"the {name} of a dead holder was given away early")
        late_s = time.monotonic() - earliest - SLACK_S
        stage.notes.append(f"given on {late_s:.1f} s after what was left of a dead holder's lease")
    stage.require(made == sorted(set(made)), f"keys of the {name} were made at the revisions {made}, in this order")


def mutex(stage):
    handed_over(stage, "lock", lambda _: ("lock", "s", "recipes/mutex"), ("unlock", "s", "recipes/mutex"))


def election(stage):
    handed_over(stage, "election", lambda who: ("campaign", "s", "recipes/election", who),
                ("resign", "s", "recipes/election"))


def counting(stage):
    """Two count up one key in transactions; each success counts once."""
    with stage.holder() as first, stage.holder() as second:
        counts = [holder.ask("increment", "recipes/count", INCREMENTS) for holder in (first, second)]
        stage.drill("leader")
        told = [list(map(int, count.text().split())) for count in counts]
    done, uncertain = (sum(each) for each in zip(*told))
    value = int(base64.b64decode(stage.key("recipes/count")["value"]))
    stage.require(done <= value <= done + uncertain, f"{done} increments, {uncertain} uncertain, make {value}")


RECIPES = {recipe.__name__: recipe for recipe in (session, abandoned, mutex, election, counting)}


def play(name, make, target, names):
    """A line about each recipe of one client on one server."""
    server = {"ingotd": Ingotd, "etcd": Etcd}[target]
    for recipe in names:
        with server() as running:
            stage = Stage(make, running, drills=target == "ingotd")
            try:
                RECIPES[recipe](stage)
            except holders.Refused as refused:
                if refused.code == "ERROR":
                    stage.complaints.append(str(refused))
                else:
                    stage.notes.append("left out: " + (
                        "the client has no such thing" if refused.code == "SKIPPED" else
                        "it calls a service that the server has not"))
            except AssertionError as error:  # what never happened
                stage.complaints.append(str(error))
        yield {"client": name, "target": target, "recipe": recipe, "complaints": stage.complaints,
               "notes": stage.notes}


def show(line, output):
    if output == "json":
        print(json.dumps(line), flush=True)
        return
    verdict = "FAILED" if line["complaints"] else "fine"
    said = "; ".join([*line["complaints"], *line["notes"]])
    print(f"{line['client']:18}{line['target']:8}{line['recipe']:10}{verdict}{': ' * bool(said)}{said}", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/recipes.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built")
    parser.add_argument("--target", choices=["ingotd", "etcd", "both"], default="ingotd",
                        help="on etcd nothing is killed (ingotd)")
    parser.add_argument("--client", action="append", metavar="NAME", choices=list(holders.HOLDERS),
                        help=f"one of {', '.join(holders.HOLDERS)}; can be repeated (all)")
    parser.add_argument("--recipe", action="append", metavar="NAME", choices=list(RECIPES),
                        help=f"one of {', '.join(RECIPES)}; can be repeated (all)")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # recipes.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    flags = parser.parse_args(arguments)
    flags.endpoint = None
    return flags


def main(arguments):
    flags = parse(arguments)
    makers = {}
    for name in flags.client or holders.HOLDERS:
        try:
            makers[name] = holders.maker(*holders.HOLDERS[name])
        except NotHere as reason:
            print(f"SKIPPED: {name}: {reason}", flush=True, file=sys.stderr)
    if not makers:
        return NOT_HERE
    prepare(flags)
    failed = False
    for name, make in makers.items():
        for target in ["ingotd", "etcd"] if flags.target == "both" else [flags.target]:
            for line in play(name, make, target, flags.recipe or list(RECIPES)):
                failed = failed or bool(line["complaints"])
                show(line, flags.output)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
