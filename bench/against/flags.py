"""The command line of bench/against_etcd."""
import argparse
import os

from command_line import Parser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPERATIONS = ("put", "range")
DATA = ("disk", "tmpfs")
CLIENTS_MAX = 10_000
ROUNDS_MAX = 1_000
REQUESTS_MAX = 100_000_000
SECONDS_MAX = 3_600
VALUE_BYTES_MAX = 1 << 20  # a put of both servers holds some more


def whole(least, most):
    def parse(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)
    return parse


def list_of(parse):
    return lambda text: list(dict.fromkeys(parse(part) for part in text.split(",")))


def operation(text):
    if text not in OPERATIONS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither put nor range")
    return text


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0, at most {SECONDS_MAX}")
    return value


def processors(text):
    here = os.sched_getaffinity(0)
    chosen = set(list_of(whole(0, max(here)))(text))
    if not chosen <= here:
        raise argparse.ArgumentTypeError(f"{text!r} names a processor that is not among those of this process")
    return chosen


def add_what(parser):
    parser.add_argument("--operations", type=list_of(operation), default=list(OPERATIONS), metavar="LIST",
                        help="put, range or both (put,range)")
    parser.add_argument("--clients", type=list_of(whole(1, CLIENTS_MAX)), default=[1, 32, 256], metavar="LIST",
                        help="numbers of clients, each a closed loop (1,32,256)")
    parser.add_argument("--data", choices=[*DATA, "both"], default="both", help="where etcd keeps its data (both)")
    parser.add_argument("--ceiling", choices=["loop", "grpc", "none"], default="loop",
                        help="the empty server: ingotd's own loop, gRPC C++, or none (loop)")
    parser.add_argument("--rounds", type=whole(1, ROUNDS_MAX), default=5, metavar="N",
                        help="of each operation and number of clients; each measures every server once (5)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=seconds, default=2.0, metavar="S",
                        help="about how long one measurement takes; its requests come from the rate before (2)")
    length.add_argument("--requests", type=whole(1, REQUESTS_MAX), metavar="N", help="of one measurement, instead")
    parser.add_argument("--connections", type=whole(1, CLIENTS_MAX), default=8, metavar="N",
                        help="that the clients share, but no more than clients (8)")
    parser.add_argument("--value-bytes", type=whole(1, VALUE_BYTES_MAX), default=64, metavar="N",
                        help="size of a value (64)")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table", help="json: an object a line")


def add_programs(parser):
    binaries = os.path.join(ROOT, "bazel-bin")
    parser.add_argument("--ingotd", default=f"{binaries}/services/ingotd/ingotd", metavar="PATH",
                        help="another one than the one that was built")
    parser.add_argument("--replicas", type=whole(1, 48), default=3, metavar="N", help="of ingotd (3)")
    parser.add_argument("--daemon-flag", action="append", default=[], metavar="FLAG",
                        help="one for ingotd, such as --daemon-flag=--isolation=thread; may come again")
    parser.add_argument("--front-end", default=f"{binaries}/bench/front_end", metavar="PATH",
                        help="the program that holds the empty servers; another one than the one that was built")
    parser.add_argument("--etcd", default="/usr/bin/etcd", metavar="PATH", help="(/usr/bin/etcd)")
    parser.add_argument("--etcdctl", default="/usr/bin/etcdctl", metavar="PATH",
                        help="it writes and compacts between measurements (/usr/bin/etcdctl)")
    parser.add_argument("--tool", metavar="PATH", help="etcd's benchmark tool; default: it is fetched and built")
    parser.add_argument("--disk-folder", default="/var/tmp", metavar="PATH", help="for data on disk (/var/tmp)")
    parser.add_argument("--tmpfs-folder", default="/dev/shm", metavar="PATH", help="for data on tmpfs (/dev/shm)")
    parser.add_argument("--cpus", type=processors, metavar="LIST",
                        help="processors on which all of it runs, such as 0,1 (where the system puts it)")


def arguments(description):
    parser = Parser(description)
    add_what(parser)
    add_programs(parser)
    flags = parser.parse_args()
    flags.data = list(DATA) if flags.data == "both" else [flags.data]
    return flags
