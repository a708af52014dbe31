#!/usr/bin/env python3
"""How the cycles of a traced run were spent: by core, by named span, and within it by kind of access.

    bazel-bin/bench/scc_round_trip --protocol=srbp --to=47 --trace=run.json
    bench/scc_trace.py run.json [--mhz=533] [--per=50]        --per: divides all figures by this number of repetitions
"""
import json
from collections import defaultdict

from command_line import Parser


def main():
    parser = Parser(__doc__)
    parser.add_argument("trace", help="a file that a bench wrote with --trace")
    parser.add_argument("--mhz", type=float, default=533, help="core clock")
    parser.add_argument("--per", type=float, default=1, help="repetitions in the trace")
    flags = parser.parse_args()
    with open(flags.trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    count, sum_us = defaultdict(int), defaultdict(float)
    open_spans = defaultdict(list)
    for event in events:
        core = event.get("tid")
        spans = open_spans[core]
        if event["ph"] == "B":
            spans.append((event["name"], event["ts"]))
        elif event["ph"] == "E":
            name, begin = spans.pop()
            count[core, name, ""] += 1
            sum_us[core, name, ""] += event["ts"] - begin
        elif event["ph"] == "X":
            key = core, spans[-1][0] if spans else "", event["name"]
            count[key] += 1
            sum_us[key] += event["dur"]
    print(f"{'core':>4}  {'span':<14} {'access':<16} {'times':>9} {'cycles':>10} {'each':>7}")
    for core, span, access in sorted(count, key=lambda key: (key[0], key[1], key[2] != "", -sum_us[key])):
        times, cycles = count[core, span, access], sum_us[core, span, access] * flags.mhz
        print(f"{core:>4}  {span or '-':<14} {access or '(all of it)':<16} {times / flags.per:>9.1f} "
              f"{cycles / flags.per:>10.0f} {cycles / times:>7.0f}")


if __name__ == "__main__":
    main()
