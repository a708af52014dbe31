#!/usr/bin/env python3
"""One page of plots of the simulated SCC: runs the benches and draws their results beside the papers' figures.

    bench/scc_plots.py docs/scc-plots.svg                 runs bazel-bin/bench/scc_*: some minutes, progress on stderr
    bench/scc_plots.py docs/scc-plots.svg --quick         few and small points: seconds
    bench/scc_plots.py docs/scc-plots.svg --bin=DIR       benches from another folder
    bench/scc_plots.py docs/scc-plots.svg --rows=FILE     keeps the benches' results in FILE, and resumes from it
    bench/scc_plots.py docs/scc-plots.svg --rows=FILE --tables      prints the tables of docs/scc-software.md, too
"""
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import time

from command_line import Parser

PANEL_W, PANEL_H, GAP, HEAD = 600, 420, 28, 64
LEFT, RIGHT, TOP, BOTTOM = 62, 176, 48, 46
INK, QUIET = "#22262b", "#7a828c"
# One colour a name, in all panels: strong for the panel's subjects, pale for the rest.
COLORS = {"rcce": "#c8102e", "binomial": "#e9862b", "scatter-allgather": "#b5654a", "modmpb": "#3b78b5",
          "oc-bcast": "#3f8f4f", "oc-bcast-async": "#12939a", "ingot": "#7b4fa3", "smelt": "#d36ba6", "mpb": "#22262b",
          "nvp": "#3f8f4f", "srbp": "#7b4fa3", "rckmpi": "#e9862b", "point-to-point": "#22262b",
          "32 B": "#e9862b", "3 KiB": "#3b78b5", "96 KiB": "#3f8f4f",  # by k
          "last target": "#3f8f4f", "first target": "#7b4fa3"}
PALE = ["#9aa3ad", "#b7bec6", "#8fa6bd", "#bda98f", "#a3b59a", "#c3a6b8", "#a9a6c9"]
ALL = ["rcce", "parallel", "optimized-parallel", "tiled-parallel", "optimized-tiled-parallel", "mpb", "off-chip",
       "modmpb", "hybrid", "binomial", "scatter-allgather", "oc-bcast", "oc-bcast-async", "smelt", "ingot"]
STRONG = "rcce,parallel,mpb,modmpb,binomial,scatter-allgather,oc-bcast,oc-bcast-async"


def runs(quick):
    """(name of the run, bench, flags), the longest runs first."""
    sizes = "1,64,4096" if quick else "1,28,64,512,4096,32768,262144,1048576"
    few = ["--cores=8", "--repetitions=1", "--messages=2"] if quick else []
    every = "--source=0,3,7" if quick else "--source=" + ",".join(map(str, range(48)))
    yield from (("size", "scc_broadcast", [f"--algorithm={name}", f"--bytes={sizes}", *few]) for name in ALL)
    yield "cores", "scc_broadcast", [f"--algorithm={STRONG}" + ("" if quick else ",ingot"), "--bytes=4096",
                                     "--cores=2,8" if quick else "--cores=2,4,8,12,18,24,36,48"]
    yield "sources", "scc_broadcast", ["--algorithm=oc-bcast,oc-bcast-async,modmpb", "--bytes=4096", "--messages=2",
                                       *(["--cores=8", "--sources=1,4"] if quick else ["--sources=1,2,4,8,16,32,48"])]
    ks = "--k=2,7" if quick else "--k=1,2,3,7,12,24,47"
    yield "k", "scc_broadcast", ["--algorithm=oc-bcast", "--bytes=32,3072" if quick else "--bytes=32,3072,98304", ks,
                                 *few]
    yield "source", "scc_broadcast", ["--algorithm=rcce,parallel,mpb,modmpb,binomial,oc-bcast", "--bytes=4096", every,
                                      "--messages=1", "--repetitions=1" if quick else "--repetitions=3",
                                      *(["--cores=8"] if quick else [])]
    yield "background", "scc_broadcast", ["--algorithm=off-chip,mpb,modmpb,oc-bcast,binomial",
                                          *(["--bytes=512", "--background-us=100", *few] if quick else
                                            ["--bytes=32768", "--background-us=100000,20000,5000,3000"])]
    for app, size in (("matmul", 24 if quick else 500), ("nbody", 96 if quick else 2400),
                      ("bucketsort", 500 if quick else 100000)):
        yield "app", "scc_app", [f"--app={app}", "--broadcast=rcce,modmpb,oc-bcast,oc-bcast-async,point-to-point",
                                 f"--size={size}", *(["--cores=8"] if quick else [])]
    yield "round_trip", "scc_round_trip", ["--to=1,5" if quick else "--to=1,2,4,6,8,10,11,23,35,47"]
    yield "collective", "scc_collective", ["--operation=barrier", *(["--cores=2,8"] if quick else [])]
    yield "interrupt", "scc_interrupt", ["--targets=1,7"] if quick else []


def run(folder, run_name, program, flags):
    done = subprocess.run([os.path.join(folder, program), "-o", "json", *flags], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program} {' '.join(flags)} ended with {done.returncode}: {done.stderr.strip()}")
    return [{"run": run_name, **json.loads(line)} for line in done.stdout.splitlines()]


def measure(folder, quick, jobs, store):
    """Rows of all runs. `store`: a file of finished runs, which are not repeated; new ones are appended."""
    plan = list(runs(quick))
    done = {}
    if store and os.path.exists(store):
        with open(store, encoding="utf-8") as file:
            done = {json.dumps(part["plan"]): part["rows"] for part in map(json.loads, file)}
    key = lambda each: json.dumps(list(each))
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run, folder, *each): each for each in plan if key(each) not in done}
        for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
            each = futures[future]
            done[key(each)] = future.result()
            if store:
                with open(store, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"plan": each, "rows": done[key(each)]}) + "\n")
            words = f"{each[0]} {each[2][0] if each[2] else ''}"
            print(f"[{count}/{len(futures)}] {time.monotonic() - began:.0f} s: {words}", file=sys.stderr, flush=True)
    return [row for each in plan for row in done[key(each)]]


def lines_of(rows, run_name, label, x, y, keep=lambda row: True):
    lines = {}
    for row in rows:
        if row["run"] == run_name and keep(row):
            lines.setdefault(label(row), []).append((row[x], row[y]))
    return {name: sorted(points) for name, points in lines.items()}


class Axis:
    def __init__(self, values, low, high, logarithmic):
        values = [v for v in values if v > 0 or not logarithmic]
        self.log = logarithmic
        self.min = min(values) if logarithmic else min(0, *values)
        self.max = max(values)
        if logarithmic:
            self.min, self.max = math.log10(self.min), math.log10(self.max)
        self.span = (self.max - self.min) or 1
        self.low, self.high = low, high

    def at(self, value):
        value = math.log10(max(value, 10 ** self.min)) if self.log else value
        return self.low + (value - self.min) / self.span * (self.high - self.low)

    def ticks(self):
        if self.log:
            steps = (1,) if self.span > 2 else (1, 2, 5)
            ticks = [m * 10.0 ** e for e in range(math.floor(self.min), math.ceil(self.max) + 1) for m in steps]
            return [t for t in ticks if self.min - 1e-9 <= math.log10(t) <= self.max + 1e-9]
        step = 10 ** math.floor(math.log10(self.span / 2))
        while self.span / step > 6:
            step *= 2 if self.span / step < 12 else 2.5
        return [step * i for i in range(math.ceil(self.min / step), math.floor(self.max / step) + 1)]


def name_of(value):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def panel(number, title, paper, lines, x_title, y_title, x_log=True, y_log=True):
    column, row = number % 2, number // 2
    x0, y0 = GAP + column * (PANEL_W + GAP), HEAD + row * (PANEL_H + GAP)
    points = [point for line in lines.values() for point in line]
    x = Axis([p[0] for p in points], x0 + LEFT, x0 + PANEL_W - RIGHT, x_log)
    y = Axis([p[1] for p in points], y0 + PANEL_H - BOTTOM, y0 + TOP, y_log)
    out = [f'<text x="{x0}" y="{y0 + 14}" font-size="15" font-weight="bold" fill="{INK}">{title}</text>',
           f'<text x="{x0}" y="{y0 + 31}" font-size="12" fill="{QUIET}">{paper}</text>']
    for tick in y.ticks():
        out.append(f'<path d="M{x.low} {y.at(tick):.1f} H{x.high}" stroke="#dde1e6"/>'
                   f'<text x="{x.low - 6}" y="{y.at(tick) + 4:.1f}" font-size="11" text-anchor="end" '
                   f'fill="#7a828c">{name_of(tick)}</text>')
    for tick in x.ticks():
        out.append(f'<text x="{x.at(tick):.1f}" y="{y.low + 16}" font-size="11" text-anchor="middle" '
                   f'fill="#7a828c">{name_of(tick)}</text>')
    out.append(f'<text x="{(x.low + x.high) / 2}" y="{y.low + 34}" font-size="11" text-anchor="middle" '
               f'fill="#22262b">{x_title}</text>')
    out.append(f'<text x="{x0 + 12}" y="{(y.low + y.high) / 2}" font-size="11" text-anchor="middle" fill="#22262b" '
               f'transform="rotate(-90 {x0 + 12} {(y.low + y.high) / 2})">{y_title}</text>')
    pale = [name for name in lines if name not in COLORS]
    ordered = sorted(lines.items(), key=lambda item: -item[1][-1][1])  # from the top, by the lines' last values
    for name, line in sorted(ordered, key=lambda item: item[0] in COLORS):  # strong ones over pale ones
        i = [other for other, _ in ordered].index(name)
        strong = name in COLORS
        color = COLORS[name] if strong else PALE[pale.index(name) % len(PALE)]
        width = 2.2 if strong else 1.4
        dash = "" if strong else ' stroke-dasharray="5 3"'
        path = " L".join(f"{x.at(px):.1f} {y.at(py):.1f}" for px, py in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="{width}"{dash}/>')
        if len(line) <= 12:
            out += [f'<circle cx="{x.at(px):.1f}" cy="{y.at(py):.1f}" r="2.4" fill="{color}"/>' for px, py in line]
        at = y0 + TOP + 8 + 20 * i
        out.append(f'<path d="M{x.high + 12} {at - 4} h18" stroke="{color}" stroke-width="3"{dash}/>'
                   f'<text x="{x.high + 35}" y="{at}" font-size="12" fill="{INK if strong else QUIET}">{name}</text>')
    return out


def bars(number, title, paper, groups):
    """Time of each broadcast as a multiple of the group's best, on a logarithmic scale."""
    column, row = number % 2, number // 2
    x0, y0 = GAP + column * (PANEL_W + GAP), HEAD + row * (PANEL_H + GAP)
    most = max(value / min(bar.values()) for bar in groups.values() for value in bar.values())
    low, high = x0 + 130, x0 + PANEL_W - 60
    length = lambda ratio: 4 + math.log(max(ratio, 1)) / math.log(most) * (high - low) if most > 1 else 4
    out = [f'<text x="{x0}" y="{y0 + 14}" font-size="15" font-weight="bold" fill="{INK}">{title}</text>',
           f'<text x="{x0}" y="{y0 + 32}" font-size="12" fill="{QUIET}">{paper}</text>']
    count = sum(len(bar) for bar in groups.values())
    step = (PANEL_H - TOP - 22 * len(groups)) / max(count, 1)
    at = y0 + TOP
    for name, bar in groups.items():
        at += 14
        out.append(f'<text x="{x0}" y="{at}" font-size="12" font-weight="bold" fill="{INK}">{name}</text>')
        at += 6
        for broadcast, value in bar.items():
            ratio = value / min(bar.values())
            out.append(f'<text x="{low - 8}" y="{at + step * 0.65:.1f}" font-size="11" text-anchor="end" '
                       f'fill="{INK}">{broadcast}</text>'
                       f'<rect x="{low}" y="{at:.1f}" width="{length(ratio):.1f}" height="{step * 0.8:.1f}" '
                       f'fill="{COLORS.get(broadcast, PALE[0])}"/>'
                       f'<text x="{low + length(ratio) + 5:.1f}" y="{at + step * 0.65:.1f}" font-size="11" '
                       f'fill="{INK}">{value:.3g} s</text>')
            at += step
    return out


def page(rows):
    algorithm = lambda row: row["algorithm"]
    protocol = lambda row: row["protocol"]
    size = lambda row: f"{row['bytes'] / 1024:g} KiB" if row["bytes"] >= 1024 else f"{row['bytes']} B"
    by_k = lines_of(rows, "k", size, "k", "throughput_mb_per_s")
    groups = {}
    for row in rows:
        if row["run"] == "app":
            name = f"{row['app']} {row.get('variant', '')}, {row['size']}".replace(" ,", ",")
            groups.setdefault(name, {})[row["broadcast"]] = row["compute_s"] + row["communicate_s"]
    panels = [
        ("Latency by size, 48 cores, source 0",
         "paper: modmpb 35 times faster than rcce at 1 MB; off-chip best below 64 B",
         lines_of(rows, "size", algorithm, "bytes", "latency_us"), "bytes", "µs"),
        ("Throughput by size, messages pipelined", "paper: OC-Bcast almost 3 times scatter-allgather",
         lines_of(rows, "size", algorithm, "bytes", "throughput_mb_per_s"), "bytes", "MB/s"),
        ("Latency by cores, 4 KiB", "the paper has a plot, no figures",
         lines_of(rows, "cores", algorithm, "cores", "latency_us"),
         "cores", "µs", False),
        ("Latency by source core, 4 KiB", "the paper has a plot, no figures",
         lines_of(rows, "source", algorithm, "source", "latency_us"), "source core", "µs", False),
        ("Broadcasters at once, 4 KiB each", "paper: concurrent sources without a global lock",
         lines_of(rows, "sources", algorithm, "sources", "throughput_mb_per_s"), "sources", "MB/s", False, False),
        ("OC-Bcast by k", "paper: small k wins on large messages", by_k, "k", "MB/s", True, False),
        ("Background traffic: 1 MiB by every core each x µs", "the paper has a plot, no figures. 32 KiB",
         lines_of(rows, "background", algorithm, "background_us", "latency_us", lambda row: row["background_us"] > 0),
         "µs between", "µs"),
        ("Interrupt by number of targets", "paper: about 2000 cycles, flat",
         {**lines_of(rows, "interrupt", lambda row: "last target", "targets", "cycles"),
          **lines_of(rows, "interrupt", lambda row: "first target", "targets", "first_cycles")},
         "targets", "core cycles", False, False),
        ("Round trips of 16 bytes from core 0", "paper: below 2000 cycles, 15 times faster than RCKMPI",
         lines_of(rows, "round_trip", protocol, "to", "cycles"), "to core", "core cycles", False),
        ("Barrier by cores", "paper: grows with the logarithm",
         lines_of(rows, "collective", protocol, "cores", "cycles", lambda row: row["operation"] == "barrier"), "cores",
         "core cycles"),
        ("Energy by size (parametric)", "the paper plots power, without figures",
         lines_of(rows, "size", algorithm, "bytes", "energy_uj"), "bytes", "µJ"),
    ]
    panels = [each for each in panels if each[2]]
    height = HEAD + (len(panels) + 1 + bool(groups)) // 2 * (PANEL_H + GAP)
    width = 2 * PANEL_W + 3 * GAP
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="{GAP}" y="36" font-size="21" font-weight="bold" fill="{INK}">The simulated SCC at 533/800/800 '
           'MHz: broadcasts, links and applications from one set of constants</text>']
    for number, arguments in enumerate(panels):
        out += panel(number, *arguments)
    if groups:
        out += bars(len(panels), "Applications: seconds until the result is there",
                    "bars: multiples of the block's best, logarithmic. "
                    "Paper: 1000² matrices 74 s with rcce, 20 s with modmpb",
                    groups)
    return "\n".join(out + ["</svg>"]) + "\n"


def tables(rows):
    """The two tables of docs/scc-software.md."""
    number = lambda value: f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
    lines = lines_of(rows, "size", lambda row: row["algorithm"], "bytes", "latency_us")
    rates = lines_of(rows, "size", lambda row: row["algorithm"], "bytes", "throughput_mb_per_s")
    shown = [size for size in (1, 64, 4096, 1048576) if size in dict(next(iter(lines.values())))]
    out = ["| broadcast | " + " | ".join(f"{size:,} B" for size in shown) + f" | {shown[-1]:,} B, MB/s |",
           "|---" * (len(shown) + 2) + "|"]
    for name in ALL:
        out.append(f"| `{name}` | " + " | ".join(number(dict(lines[name])[size]) for size in shown) +
                   f" | {dict(rates[name])[shown[-1]]:#.3g} |")
    out += ["", "| application | broadcast | compute | communicate |", "|---|---|---|---|"]
    for row in rows:
        if row["run"] == "app":
            out.append(f"| {row['app']} {row.get('variant', '')} {row['size']} | `{row['broadcast']}` | "
                       f"{row['compute_s']:.4f} | {row['communicate_s']:.4f} |")
    return "\n".join(out)


def main():
    parser = Parser(__doc__)
    parser.add_argument("svg", help="the page to write")
    parser.add_argument("--bin", default="bazel-bin/bench", help="folder of the benches")
    parser.add_argument("--rows", help="file of finished runs, which are not made again")
    parser.add_argument("--quick", action="store_true", help="few and small points")
    parser.add_argument("--tables", action="store_true", help="print tables for the docs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="benches at once")
    flags = parser.parse_args()
    for program in sorted({program for _, program, _ in runs(flags.quick)}):
        path = os.path.join(flags.bin, program)
        if not os.path.exists(path):
            parser.error(f"there is no {path}: build //bench:{program}, or say with --bin where it is")
    if flags.jobs < 1:
        parser.error(f"--jobs cannot be {flags.jobs}: at least one bench runs at a time")
    rows = measure(flags.bin, flags.quick, flags.jobs, flags.rows)
    with open(flags.svg, "w", encoding="utf-8") as file:
        file.write(page(rows))
    if flags.tables:
        print(tables(rows))


if __name__ == "__main__":
    main()
