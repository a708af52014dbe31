#!/usr/bin/env python3
"""Plots throughput before and while a learner is stopped or slow as an SVG.

    bazel-bin/bench/slow_learner -o json | bench/slow_learner_plot.py > docs/slow-learner.svg
"""
import json
import sys

from command_line import Parser

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 860, 300, 80, 190, 70, 70
COLORS = {"1paxos": "#c8102e", "multipaxos": "#3b78b5", "2pc": "#7a828c"}
TITLES = {"stop": "One learner stopped", "slow": "One learner with a tenth of its time"}


def panel(number, trouble, rows):
    y0 = TOP + number * (PANEL + GAP)
    bins = max(len(row["bins_per_s"]) for row in rows)
    most = max(max(row["bins_per_s"]) for row in rows) or 1
    step = next(s * 10 ** e for e in range(9) for s in (1, 2, 5) if most / (s * 10 ** e) <= 6)

    def x(n):
        return LEFT + n / bins * (WIDTH - LEFT - RIGHT)

    def y(rate):
        return y0 + PANEL - rate / most * (PANEL - 20)

    seconds = bins * rows[0]["bin_ms"] / 1000
    shaded = x(rows[0]["troubled_from_bin"])
    out = [f'<text x="{LEFT}" y="{y0 - 4}" font-size="14" font-weight="bold" fill="#22262b">{TITLES[trouble]}</text>',
           f'<rect x="{shaded:.1f}" y="{y0 + 10}" width="{x(bins) - shaded:.1f}" height="{PANEL - 10}" '
           'fill="#f3e3e5"/>']
    for tick in range(int(most / step) + 1):
        out.append(f'<path d="M{LEFT} {y(tick * step):.1f} H{WIDTH - RIGHT}" stroke="#dde1e6"/>'
                   f'<text x="{LEFT - 10}" y="{y(tick * step) + 4:.1f}" font-size="12" text-anchor="end" '
                   f'fill="#7a828c">{tick * step:,.0f}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{y0 + PANEL + 22}" font-size="12" text-anchor="middle" '
               f'fill="#7a828c">{seconds:g} s; shaded: with the trouble; commands per second</text>')
    for i, row in enumerate(rows):
        color = COLORS.get(row["agreement"], "#22262b")
        path = " L".join(f"{x(n + 0.5):.1f} {y(rate):.1f}" for n, rate in enumerate(row["bins_per_s"]))
        at = y0 + 30 + 40 * i
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>'
                   f'<path d="M{WIDTH - RIGHT + 20} {at - 4} h22" stroke="{color}" stroke-width="3"/>'
                   f'<text x="{WIDTH - RIGHT + 50}" y="{at}" font-size="13" fill="#22262b">{row["agreement"]}</text>'
                   f'<text x="{WIDTH - RIGHT + 50}" y="{at + 16}" font-size="11" fill="#7a828c">ratio '
                   f'{row["ratio_median"]:.2f}, {row["turns"]} turns</text>')
    return out


def main():
    Parser(__doc__).parse_args()
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    if not rows:
        sys.exit("slow_learner_plot.py: there is nothing to plot; give it the lines of bench/slow_learner -o json")
    troubles = [t for t in TITLES if any(row["trouble"] == t for row in rows)]
    height = TOP + len(troubles) * (PANEL + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="Helvetica, Arial, sans-serif">', '<rect width="100%" height="100%" fill="#ffffff"/>',
           '<text x="24" y="36" font-size="20" font-weight="bold" fill="#22262b">What a stopped or slow learner costs '
           'the others</text>']
    for number, trouble in enumerate(troubles):
        out += panel(number, trouble, [row for row in rows if row["trouble"] == trouble])
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
