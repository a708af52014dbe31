"""What bench/lease and bench/watch share: their flags, the program that drives streams, rounds by turns, and rows."""
import contextlib
import json
import os
import subprocess
import sys
import typing

from command_line import Parser

from .figures import ToolError, in_turn, ratio_of, spread_of
from .flags import ROUNDS_MAX, ROOT, add_programs, seconds, whole
from .servers import ServerError, end_with_this_process, environment, servers_of
from .tool import wait_for_either

NOT_HERE = 77  # as tests/summary.py understands it
COLUMNS = "{:<32}{:<23}{:>32}  {:>40}  {:>24}"


class Measurement(typing.NamedTuple):
    """One call of the program. `figures` names what of its object counts: a name to the keys under which it is."""
    name: str
    words: list
    figures: dict
    idle: bool = False  # what counts is the memory of the server, while the program does nothing


def parser_of(description):
    parser = Parser(description)
    parser.add_argument("--data", choices=["disk", "tmpfs", "both"], default="both",
                        help="where etcd keeps its data (both)")
    parser.add_argument("--rounds", type=whole(1, ROUNDS_MAX), default=5, metavar="N",
                        help="of each measurement; each measures every server once (5)")
    parser.add_argument("--seconds", type=seconds, default=2.0, metavar="S",
                        help="how long one measurement takes, but for what comes before and after (2)")
    parser.add_argument("--connections", type=whole(1, 1000), default=8, metavar="N", help="each with a stream (8)")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table", help="json: an object a line")
    add_programs(parser)
    return parser


def completed(flags):
    """What servers_of wants besides."""
    flags.data = ["disk", "tmpfs"] if flags.data == "both" else [flags.data]
    flags.ceiling, flags.value_bytes = "none", 64
    return flags


def built_program():
    """Its path, or None and why not, in a few words."""
    done = subprocess.run([os.path.join(ROOT, "bench/against/build.sh"), "streams"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return done.stdout.strip(), None
    return None, (done.stderr.strip().splitlines() or [f"build.sh exited with {done.returncode}"])[-1]


def family(process):
    """The numbers of a process and of all that it has started, and these have."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8") as file:
            parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    found = {process.pid}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def memory_bytes(process):
    """Of the family, what is shared counted once."""
    total = 0
    for pid in family(process):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total


class Streams:
    """The program on a server."""

    def __init__(self, path, flags):
        self.path, self.flags = path, flags

    def start(self, server, words, **more):
        return subprocess.Popen(
            [self.path, words[0], f"--endpoint={server.endpoint}", f"--connections={self.flags.connections}",
             f"--duration={self.flags.seconds}s", *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, preexec_fn=end_with_this_process, env=environment(), **more)

    def measure(self, server, measurement):
        """The program's object."""
        program = self.start(server, measurement.words, stdin=subprocess.DEVNULL)
        try:
            wait_for_either(program, server)
            return self.read(program, server, measurement)
        finally:
            program.kill()
            program.communicate()

    @staticmethod
    def read(program, server, measurement, words=None):
        said, complained = program.communicate(words)
        if program.returncode != 0:
            last = (complained.strip().splitlines() or ["no reason"])[-1]
            raise ToolError(f"{measurement.name} on {server.name}: {last}")
        return json.loads(said)

    def measure_idle(self, server, measurement):
        """How many bytes more the server takes while the program is there, for each watcher."""
        before = memory_bytes(server.process)
        program = self.start(server, measurement.words, stdin=subprocess.PIPE)
        try:
            program.stdout.readline()  # it says when all watchers are there
            grown = memory_bytes(server.process) - before
            ended = self.read(program, server, measurement, "end\n")
        finally:
            program.kill()
            program.wait()
        return {"BytesEach": grown / ended["Watchers"]}


def figure(found, keys):
    for key in keys:
        found = found[key]
    return float(found)


def rows_of(measurement, rounds, flags):
    """An object for each figure and each place of etcd's data."""
    for name, keys in measurement.figures.items():
        values = {server: [figure(found, keys) for found in of_rounds] for server, of_rounds in rounds.items()}
        for data in flags.data:
            spreads = {"ingot": spread_of(values["ingotd"]), "etcd": spread_of(values[f"etcd {data}"])}
            if min(values[f"etcd {data}"]) > 0:
                spreads["ratio"] = ratio_of(values["ingotd"], values[f"etcd {data}"])
            row = {"measurement": measurement.name, "figure": name, "etcd_data": data}
            for of, spread in spreads.items():
                row[of], row[f"{of}_min"], row[f"{of}_max"] = (round(each, 3) for each in spread)
            yield {**row, "rounds": flags.rounds, "replicas": flags.replicas}


def cell(row, name, digits):
    if name not in row:
        return "-"
    return f"{row[name]:.{digits}f} ({row[f'{name}_min']:.{digits}f} to {row[f'{name}_max']:.{digits}f})"


def show(row, output):
    if output == "json":
        print(json.dumps(row), flush=True)
        return
    digits = 0 if row["ingot"] >= 100 else 2
    print(COLUMNS.format(row["measurement"], row["figure"], cell(row, "ingot", digits),
                         f"{row['etcd_data']}: {cell(row, 'etcd', digits)}", cell(row, "ratio", 2)), flush=True)


def compare(measurements, flags, program):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(server) for server in servers_of(flags)]
        streams = Streams(program, flags)
        if flags.output == "table":
            print(COLUMNS.format("MEASUREMENT", "FIGURE", "INGOTD", "ETCD", "RATIO"))
        for measurement in measurements:
            measure = streams.measure_idle if measurement.idle else streams.measure
            rounds = {server.name: [] for server in servers}
            for number in range(flags.rounds):
                for server in in_turn(servers, number):
                    server.compact()
                    rounds[server.name].append(measure(server, measurement))
                print(f"{measurement.name}: round {number + 1} of {flags.rounds}", file=sys.stderr)
            for row in rows_of(measurement, rounds, flags):
                show(row, flags.output)


def main(name, flags, measurements):
    """The exit code."""
    flags = completed(flags)
    missing = [path for path in (flags.ingotd, flags.etcd, flags.etcdctl) if not os.access(path, os.X_OK)]
    if missing:
        print(f"{name}: {missing[0]} cannot be run; bazel build //services/ingotd makes ingotd, and "
              "deploy/install.sh --compare installs etcd and etcdctl", file=sys.stderr)
        return 2 if missing[0] == flags.ingotd else NOT_HERE
    program, reason = (flags.tool, None) if flags.tool else built_program()
    if program is None:
        print(f"{name}: {reason}; --tool=PATH names one that is there", file=sys.stderr)
        return NOT_HERE
    if flags.cpus:
        os.sched_setaffinity(0, flags.cpus)
    try:
        compare(measurements, flags, program)
    except (ServerError, ToolError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
