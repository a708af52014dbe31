#!/usr/bin/env python3
"""Plots planning time against cores as an SVG.

    bazel-bin/bench/planning -o json | bench/planning_plot.py > docs/planning.svg
"""
import json
import math
import sys

from command_line import Parser

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 70, 60
COLORS = {
    "smelt, broadcast": "#7a828c",
    "ingot, broadcast": "#c8102e",
    "ingot, reduction": "#e9a23b",
    "ingot, barrier": "#3b78b5",
    "ingot, throughput": "#3f8f4f",
}


def main():
    Parser(__doc__).parse_args()
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    if not rows:
        sys.exit("planning_plot.py: there is nothing to plot; give it the lines of bench/planning -o json")
    lines = {}
    for row in rows:
        lines.setdefault(f"{row['planner']}, {row['objective']}", []).append((row["cores"], row["plan_cpu_ms"]))
    cores = sorted({row["cores"] for row in rows})
    most = max(1000, max(row["plan_cpu_ms"] for row in rows))
    least = 10 ** math.floor(math.log10(max(0.001, min(row["plan_cpu_ms"] for row in rows))))

    def x(n):
        span = math.log(cores[-1] / cores[0]) or 1
        return LEFT + math.log(n / cores[0]) / span * (WIDTH - LEFT - RIGHT)

    def y(ms):
        share = math.log(max(ms, least) / least) / math.log(most / least)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<text x="24" y="36" font-size="20" font-weight="bold" fill="#22262b">Planning time against cores</text>',
        '<text x="24" y="56" font-size="13" fill="#7a828c">derived machines, default evaluations, '
        "median of processor time; dashed: the aim of one second</text>",
    ]
    tick = least
    while tick <= most * 1.001:
        out.append(f'<path d="M{LEFT} {y(tick):.1f} H{WIDTH - RIGHT}" stroke="#dde1e6"/>')
        out.append(f'<text x="{LEFT - 10}" y="{y(tick) + 4:.1f}" font-size="12" text-anchor="end" '
                   f'fill="#7a828c">{tick:g} ms</text>')
        tick *= 10
    out.append(f'<path d="M{LEFT} {y(1000):.1f} H{WIDTH - RIGHT}" stroke="#22262b" stroke-dasharray="5 4"/>')
    for n in cores:
        out.append(f'<text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 22}" font-size="12" text-anchor="middle" '
                   f'fill="#7a828c">{n}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" font-size="13" text-anchor="middle" '
               'fill="#7a828c">cores</text>')
    for number, (name, points) in enumerate(lines.items()):
        points.sort()
        color = COLORS.get(name, "#22262b")
        path = " L".join(f"{x(n):.1f} {y(ms):.1f}" for n, ms in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(ms):.1f}" r="3" fill="{color}"/>' for n, ms in points]
        at = TOP + 20 + 22 * number
        out.append(f'<path d="M{WIDTH - RIGHT + 20} {at - 4} h22" stroke="{color}" stroke-width="3"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 50}" y="{at}" font-size="13" fill="#22262b">{name}</text>')
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
