#!/usr/bin/env python3
"""How long puts take beside long reads and commands: all keys are read, sorted, counted, hashed, deleted, compacted.

    bench/long_reads.py                                    200,000 keys; each kind, reads by 1 and by 4 clients; a table
    bench/long_reads.py --keys=1000000 --beside=none,count,hashkv --at-once=1,200 -o json
    bench/long_reads.py --server=etcd                      the same beside etcd with its data in memory

ingot-load fills the server, and then puts at a fixed rate, one put each 10 ms: its latency counts from the time at which
a put was due. Meanwhile so many clients as --at-once says read with etcdctl, each again and again. A row has the put's
median, 99th percentile and maximum, how many reads ended, and how many roles have moved (ingotd). Each read is a
process of etcdctl, which takes a share of the cores: what it takes when the server does nothing for it is in no row.

The compaction of all versions but the newest, and the delete of all keys, are asked for once, a fifth into the block.
After the delete the keys are put again.

Exit codes: 0 measured; 1 a program failed; 2 the command line is wrong.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from against.servers import Etcd, Ingotd, ServerError, environment
from command_line import Parser

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREFIX = "long-reads/"
FILLED_TIMES = 3  # puts for each key, drawn at random: about 95 of 100 keys are there then
PUTS_PER_S = 100
READS = {
    "none": None,
    "range": ["get", "--prefix", PREFIX, "--keys-only"],
    "sort": ["get", "--prefix", PREFIX, "--sort-by=MODIFY", "--order=DESCEND", "--limit=10"],
    "count": ["get", "--prefix", PREFIX, "--limit=1"],  # the answer has the number of all
    "hashkv": ["endpoint", "hashkv"],
    "compact": ["compact"],  # at the newest revision
    "delete": ["del", "--prefix", PREFIX],
}
ONCE = ("compact", "delete")


def whole(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def counts(text):
    return [whole(part) for part in text.split(",")]


def reads(text):
    names = text.split(",")
    if not set(names) <= READS.keys():
        raise argparse.ArgumentTypeError(f"one or more of {','.join(READS)}")
    return names


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("--keys", type=whole, default=200_000, metavar="N", help="in the server, about (200000)")
    parser.add_argument("--value-bytes", type=whole, default=64, metavar="N", help="of each value (64)")
    parser.add_argument("--beside", type=reads, default=list(READS), metavar="READ,...", help=",".join(READS))
    parser.add_argument("--at-once", type=counts, default=[1, 4], metavar="N,...", help="clients that read (1,4)")
    parser.add_argument("--seconds", type=whole, default=10, metavar="N", help="of each measurement (10)")
    parser.add_argument("--replicas", type=whole, default=3, metavar="N", help="of ingotd (3)")
    parser.add_argument("--server", choices=["ingotd", "etcd"], default="ingotd")
    parser.add_argument("--bin", default=os.path.join(ROOT, "bazel-bin"), help="where Bazel's results are")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    flags = parser.parse_args()
    flags.ingotd = os.path.join(flags.bin, "services/ingotd/ingotd")
    flags.etcd, flags.etcdctl, flags.daemon_flag = "etcd", "etcdctl", []
    return flags


def load(flags, server, *more):
    done = subprocess.run(
        [os.path.join(flags.bin, "services/ingot_load/ingot-load"), f"--endpoint={server.endpoint}",
         f"--prefix={PREFIX}", f"--keys={flags.keys}", f"--value-bytes={flags.value_bytes}", "--read-share=0",
         "--timeout=60s", "-o", "json", *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    if done.returncode != 0:
        raise ServerError(f"ingot-load failed: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def roles(flags, server):
    if flags.server != "ingotd":
        return {}
    done = subprocess.run([os.path.join(flags.bin, "services/ingotctl/ingotctl"), f"--endpoint={server.endpoint}",
                           "status", "-o", "json"], stdout=subprocess.PIPE, text=True, env=environment())
    return {each["id"]: each["role"] for each in json.loads(done.stdout)["replicas"]}


def fill(flags, server):
    load(flags, server, f"--count={FILLED_TIMES * flags.keys}", "--clients=256", "--connections=8")


def newest(server):
    got = server.ctl("get", "none", "--write-out=json")
    if got.returncode != 0:
        raise ServerError(got.stderr.strip())
    return json.loads(got.stdout)["header"]["revision"]


class Readers:
    """Clients that read again and again until the end of the block; or one that waits for a while and asks once."""

    def __init__(self, server, words, at_once, wait_s=0):
        self.server, self.words, self.wait_s = server, words, wait_s
        self.over = threading.Event()
        self.done, self.failed = 0, None
        self.threads = [threading.Thread(target=self.read) for _ in range(at_once if words else 0)]

    def read(self):
        self.over.wait(self.wait_s)
        while not self.over.is_set() and not (self.wait_s and self.done):
            ended = self.server.ctl(*self.words)
            if ended.returncode == 0:
                self.done += 1
            else:
                self.failed = ended.stderr.strip()
                return

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def measure(flags, server, beside, at_once):
    words = READS[beside]
    if beside == "compact":
        words = [*words, str(newest(server))]
    before = roles(flags, server)
    with Readers(server, words, at_once, flags.seconds / 5 if beside in ONCE else 0) as readers:
        result = load(flags, server, f"--rate={PUTS_PER_S}", "--clients=8", f"--duration={flags.seconds}s")
        reads_done = readers.done
    if readers.failed is not None:
        raise ServerError(f"etcdctl {' '.join(words)} failed: {readers.failed}")
    after = roles(flags, server)
    return {"benchmark": "long_reads", "server": flags.server, "beside": beside, "keys": flags.keys,
            "at_once": at_once, "p50_ms": round(result["p50_us"] / 1000, 3),
            "p99_ms": round(result["p99_us"] / 1000, 3), "max_ms": round(result["max_us"] / 1000, 3),
            "reads": readers.done if beside in ONCE else reads_done,
            "roles_moved": sum(role != after.get(replica) for replica, role in before.items())}


def main():
    flags = arguments()
    folder = tempfile.mkdtemp(prefix="long-reads-", dir="/dev/shm")
    try:
        with Ingotd(flags, "/tmp") if flags.server == "ingotd" else Etcd(flags, "memory", folder) as server:
            print(f"{flags.keys} keys", file=sys.stderr)
            fill(flags, server)
            if flags.output == "table":
                print(f"{'BESIDE':<8} {'AT ONCE':>7} {'P50 MS':>8} {'P99 MS':>8} {'MAX MS':>8} {'READS':>6} "
                      f"{'ROLES MOVED':>11}")
            for beside in flags.beside:
                for at_once in [0] if beside == "none" else [1] if beside in ONCE else flags.at_once:
                    row = measure(flags, server, beside, at_once)
                    if flags.output == "json":
                        print(json.dumps(row), flush=True)
                    else:
                        print(f"{beside:<8} {row['at_once']:>7} {row['p50_ms']:>8} {row['p99_ms']:>8} "
                              f"{row['max_ms']:>8} {row['reads']:>6} {row['roles_moved']:>11}", flush=True)
                    if beside == "delete":
                        fill(flags, server)
    except (ServerError, FileNotFoundError) as error:
        sys.exit(f"long_reads.py: {error}; bazel build //services/ingotd //services/ingotctl "
                 "//services/ingot_load:ingot-load makes the programs")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
