#!/usr/bin/env python3
"""Runs bench/openmp_sync with and without libingot_openmp.so, in turns, and compares.

    bench/openmp_sync.py                        two threads, pinned, ten turns; a table
    bench/openmp_sync.py --threads=2,4,16 --turns=20 -o json

Ratios are taken turn by turn, with the library over without, and their median is shown: below 1, the library is faster.
"""
import collections
import json
import os
import statistics
import subprocess
import sys

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
    parser.add_argument("--threads", type=counts, default=[2], help="team sizes, such as 2,4,16")
    parser.add_argument("--turns", type=whole, default=10, help="of each: without, then with the library")
    parser.add_argument("--samples", type=whole, default=40, help="of each construct in one turn")
    parser.add_argument("--constructs", default="", help="only these, such as barrier,single")
    parser.add_argument("--bin", default=os.path.join(ROOT, "bazel-bin"), help="where Bazel's results are")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    return parser.parse_args()


def run_once(flags, threads, library):
    environment = dict(os.environ, OMP_DYNAMIC="false")
    environment.pop("LD_PRELOAD", None)
    if threads <= len(os.sched_getaffinity(0)):
        environment.setdefault("OMP_PLACES", "cores")
        environment.setdefault("OMP_PROC_BIND", "close")
    command = [os.path.join(flags.bin, "bench/openmp_sync"), f"--threads={threads}", f"--samples={flags.samples}"]
    if flags.constructs:
        command.append(f"--constructs={flags.constructs}")
    if library:
        environment["LD_PRELOAD"] = library
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["construct"]: line["overhead_ns_median"] for line in lines}


def compare(flags, threads, library):
    """Medians by turn: {construct: [(without, with), ...]}."""
    pairs = collections.defaultdict(list)
    for turn in range(flags.turns):
        print(f"{threads} threads, turn {turn + 1} of {flags.turns}", file=sys.stderr)
        without, having = run_once(flags, threads, None), run_once(flags, threads, library)
        for construct, value in without.items():
            pairs[construct].append((value, having[construct]))
    return pairs


def quantile(values, share):
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def summary(threads, construct, pairs):
    ratios = [having / without for without, having in pairs if without > 0 and having > 0]
    result = {"benchmark": "openmp_sync", "construct": construct, "threads": threads, "turns": len(pairs)}
    for name, values in (("libgomp", [p[0] for p in pairs]), ("ingot", [p[1] for p in pairs])):
        result[f"{name}_ns_median"] = round(statistics.median(values), 1)
        result[f"{name}_ns_p10"] = round(quantile(values, 0.1), 1)
        result[f"{name}_ns_p90"] = round(quantile(values, 0.9), 1)
    # None where noise hides the overheads: the delay took longer alone than within the construct.
    result["ratio_median"] = round(statistics.median(ratios), 3) if ratios else None
    result["ratio_p10"] = round(quantile(ratios, 0.1), 3) if ratios else None
    result["ratio_p90"] = round(quantile(ratios, 0.9), 3) if ratios else None
    return result


def print_row(row):
    spread = "-" if row["ratio_median"] is None else (
        f"{row['ratio_median']:.2f} ({row['ratio_p10']:.2f} to {row['ratio_p90']:.2f})")
    print(f"{row['construct']:<14}{row['threads']:>8}{row['libgomp_ns_median']:>12.0f}{row['ingot_ns_median']:>12.0f}"
          f"  {spread}")


def main():
    flags = arguments()
    library = os.path.join(flags.bin, "client/openmp/libingot_openmp.so")
    for needed in (library, os.path.join(flags.bin, "bench/openmp_sync")):
        if not os.path.exists(needed):
            print(f"openmp_sync.py: {needed} is missing; run bazel build //bench:openmp_sync "
                  "//client/openmp:libingot_openmp.so", file=sys.stderr)
            sys.exit(2)
    if flags.output == "table":
        print(f"{'CONSTRUCT':<14}{'THREADS':>8}{'LIBGOMP NS':>12}{'INGOT NS':>12}  RATIO (10TH TO 90TH PERCENTILE)")
    for threads in flags.threads:
        for construct, pairs in compare(flags, threads, os.path.abspath(library)).items():
            row = summary(threads, construct, pairs)
            if flags.output == "json":
                print(json.dumps(row), flush=True)
            else:
                print_row(row)


if __name__ == "__main__":
    main()
