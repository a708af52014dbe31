#!/usr/bin/env python3
"""Predicts how many puts a second ingotd commits on machines with more cores, from what each of its threads costs here.

    bench/scaling.py                            3 and 5 replicas, 1 and 2 loops, 256 clients; a table
    bench/scaling.py --replicas=3 --loops=1,2,4 --clients=32,256 --cores=2,4,8,16 -o json

ingot-load puts to a daemon of its own, and the processor time of each thread that serves them is read before and after:
the loops of the front end, the leader, the acceptor, each further replica. The model has no other constant:

    threads have a core each:  rate = 1 / the processor time a put of the busiest thread
    fewer cores than threads:  rate = cores / the processor time a put of all threads, and at most the rate above

The client has cores of its own in it, so `model here` takes the client's time in, too: beside `measured` it shows how
far two cores can tell whether the model is right. What it leaves out: with a core for each thread nothing is switched,
so a thread costs less than here, and batches are smaller, so it costs more; and cores that are far from each other take
longer for each message.

Exit codes: 0 measured; 1 a program failed; 2 the command line is wrong.
"""
import argparse
import json
import os
import subprocess
import sys
import typing

from against.servers import Ingotd, ServerError, environment
from command_line import Parser

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def whole(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def counts(text):
    return [whole(part) for part in text.split(",")]


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--replicas", type=counts, default=[3, 5], metavar="N,...", help="of the group (3,5)")
    parser.add_argument("--loops", type=counts, default=[1, 2], metavar="N,...", help="of the front end (1,2)")
    parser.add_argument("--clients", type=counts, default=[256], metavar="N,...", help="closed loops (256)")
    parser.add_argument("--cores", type=counts, default=[2, 4, 8, 16], metavar="N,...",
                        help="to predict for (2,4,8,16)")
    parser.add_argument("--seconds", type=whole, default=5, metavar="N", help="of each measurement (5)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "bazel-bin"), help="where Bazel's results are")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    return parser.parse_args()


def predicted_per_s(costs_us, cores):
    """By the model: `costs_us` has the processor time a put of each thread."""
    return min(1e6 / max(costs_us), cores * 1e6 / sum(costs_us))


class Spent(typing.NamedTuple):
    """`turns`: how often the kernel gave it a core."""
    ns: int = 0
    turns: int = 0

    def since(self, before):
        return Spent(self.ns - before.ns, self.turns - before.turns)


class Daemon(Ingotd):
    """Use as a context manager. Writes and questions go by ingotctl, which is built with it."""

    def ctl(self, *words):
        return subprocess.run([os.path.join(self.flags.bin, "services/ingotctl/ingotctl"),
                               f"--endpoint={self.endpoint}", *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())

    def status(self):
        done = self.ctl("status", "-o", "json")
        if done.returncode != 0:
            raise ServerError(done.stderr.strip())
        return json.loads(done.stdout)

    def threads(self):
        """What the replicas have spent, by their parts, and what the front end's threads have, by their numbers."""
        replicas, front_end = {}, {}
        for replica in self.status()["replicas"]:
            part = f"learner {replica['id']}" if replica["role"] == "replica" else replica["role"]
            replicas[part] = Spent(*map(sum, zip(*times_of(replica["pid"]).values())))
        for pid in children_of(self.process.pid):
            if comm_of(pid) == "ingotd-front":
                front_end = times_of(pid)
        return replicas, front_end


def comm_of(task):
    with open(f"/proc/{task}/comm", encoding="utf-8") as file:
        return file.read().strip()


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def times_of(pid):
    """What each thread has spent, by its number."""
    times = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
            ns, _, turns = (int(word) for word in file.read().split())
            times[int(task)] = Spent(ns, turns)
    return times


def load(flags, daemon, clients):
    """Puts for the time of a measurement. Returns what ingot-load says, and the processor time of the client."""
    before = os.times()
    done = subprocess.run(
        [os.path.join(flags.bin, "services/ingot_load/ingot-load"), f"--endpoint={daemon.endpoint}",
         f"--clients={clients}", f"--connections={min(clients, 8)}", "--read-share=0",
         f"--duration={flags.seconds}s", "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = os.times()
    if done.returncode != 0:
        raise ServerError(f"ingot-load failed: {done.stderr.strip()}")
    spent_s = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(done.stdout.splitlines()[-1]), spent_s


def measure(flags, replicas, loops, clients):
    settings = argparse.Namespace(bin=flags.bin, ingotd=os.path.join(flags.bin, "services/ingotd/ingotd"),
                                  replicas=replicas, daemon_flag=[f"--front-end-loops={loops}"], value_bytes=64)
    with Daemon(settings, "/tmp") as daemon:  # the path of its Unix socket has at most 107 bytes
        load(flags, daemon, clients)  # a first one, which counts for nothing
        before = daemon.threads()
        result, client_s = load(flags, daemon, clients)
        after = daemon.threads()
    if before[0].keys() != after[0].keys():
        raise ServerError("a role has moved while ingot-load ran; again")
    puts = result["operations"]
    spent = {part: now.since(before[0][part]) for part, now in after[0].items()}
    # The busiest threads of the front end are its loops; the others are gRPC C++'s, which serves no puts.
    threads = sorted((now.since(before[1].get(task, Spent())) for task, now in after[1].items()), reverse=True)
    spent |= {f"loop {number}": each for number, each in enumerate(threads[:loops])}
    costs = {part: each.ns * 1e-3 / puts for part, each in spent.items()}
    client_us = client_s * 1e6 / puts
    cores = len(os.sched_getaffinity(0))
    return {
        "benchmark": "scaling", "replicas": replicas, "loops": loops, "clients": clients, "cores_here": cores,
        "measured_per_s": round(result["throughput_per_s"]), "client_us": round(client_us, 2),
        "model_here_per_s": round(predicted_per_s([*costs.values(), client_us], cores)),
        "busiest": max(costs, key=costs.get), "costs_us": {part: round(cost, 2) for part, cost in costs.items()},
        "turns": {part: round(each.turns / puts, 3) for part, each in spent.items()},
        "predicted_per_s": {str(each): round(predicted_per_s(list(costs.values()), each)) for each in flags.cores},
    }


def print_table(rows, cores):
    print(f"{'REPLICAS':>8} {'LOOPS':>5} {'CLIENTS':>7} {'MEASURED':>9} {'MODEL HERE':>10}  "
          + " ".join(f"{each:>4} CORES" for each in cores) + "  BUSIEST")
    for row in rows:
        busiest = row["busiest"]
        print(f"{row['replicas']:>8} {row['loops']:>5} {row['clients']:>7} {row['measured_per_s']:>9,} "
              f"{row['model_here_per_s']:>10,}  "
              + " ".join(f"{row['predicted_per_s'][str(each)]:>10,}" for each in cores)
              + f"  {busiest}, {row['costs_us'][busiest]} us")
    print("\nprocessor time a put in us, and how often a put the kernel gave the thread a core:")
    for row in rows:
        parts = ", ".join(f"{part} {cost} ({row['turns'][part]})" for part, cost in row["costs_us"].items())
        print(f"  {row['replicas']} replicas, {row['loops']} loops, {row['clients']} clients: {parts}; client "
              f"{row['client_us']}")


def main():
    flags = arguments()
    rows = []
    try:
        for replicas in flags.replicas:
            for loops in flags.loops:
                for clients in flags.clients:
                    print(f"{replicas} replicas, {loops} loops, {clients} clients", file=sys.stderr)
                    rows.append(measure(flags, replicas, loops, clients))
                    if flags.output == "json":
                        print(json.dumps(rows[-1]), flush=True)
    except (ServerError, FileNotFoundError) as error:
        sys.exit(f"scaling.py: {error}; bazel build //services/ingotd //services/ingotctl "
                 "//services/ingot_load:ingot-load makes the programs")
    if flags.output == "table":
        print_table(rows, flags.cores)


if __name__ == "__main__":
    main()
