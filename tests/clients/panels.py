"""Draws the panels of a Grafana dashboard as an SVG, from what its queries have answered."""

import html
import math

WIDTH, HEAD, PANEL, GAP = 1200, 70, 190, 14
LEFT, RIGHT, TOP, BOTTOM, LINE = 62, 12, 34, 22, 15  # of a panel's plot; a line of its legend
COLUMNS = 12  # of a row, in which panels have their spans
COLORS = ["#3b78b5", "#c8102e", "#3f8f4f", "#e9a23b", "#7a4fa3", "#22262b"]
DARK, GREY, PALE = "#22262b", "#7a828c", "#dde1e6"
BYTES = ["B", "KiB", "MiB", "GiB", "TiB"]
PREFIXES = ["", "k", "M", "G"]


class Panel:
    """`series` are (name, [(seconds, value)]); `reason` says why there is none."""

    def __init__(self, title, kind, unit, span, series, reason=None):
        self.title, self.kind, self.unit, self.span = title, kind, unit, span
        self.series, self.reason = series, reason


def amount(value, unit):
    base, names, behind = (1024, BYTES, "/s" if unit == "Bps" else "") if unit in ("bytes", "Bps") else \
        (1000, PREFIXES, {"ops": "/s", "s": " s"}.get(unit, ""))
    step = 0
    while abs(value) >= base and step + 1 < len(names):
        value, step = value / base, step + 1
    between = " " if base == 1024 else ""
    return f"{value:.3g}{between}{names[step]}{behind}"


def text(x, y, words, size=12, color=GREY, anchor="start", bold=False):
    weight = ' font-weight="bold"' if bold else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}"{weight}>'
            f"{html.escape(words)}</text>")


def ticks_up_to(most, unit):
    """Round numbers from 0 on, at most six."""
    base = 1024 if unit in ("bytes", "Bps") else 1000
    scale = base ** max(0, math.floor(math.log(most, base)))
    step = 10 ** math.floor(math.log10(most / scale / 3)) * scale
    step *= next(factor for factor in (1, 2, 5, 10) if most / (step * factor) <= 4.5)
    return [step * number for number in range(int(most / step) + 1)]


def lines(panel, x0, y0, width, seconds, marks):
    """The plot and the legend below it."""
    height = PANEL - TOP - BOTTOM - LINE * len(panel.series)
    most = max((value for _, points in panel.series for _, value in points), default=0) * 1.05 or 1

    def x(at):
        return x0 + LEFT + at / seconds * (width - LEFT - RIGHT)

    def y(value):
        return y0 + TOP + height - value / most * height

    out = []
    for tick in ticks_up_to(most, panel.unit):
        out += [f'<path d="M{x(0):.1f} {y(tick):.1f} H{x(seconds):.1f}" stroke="{PALE}"/>',
                text(x(0) - 6, y(tick) + 4, amount(tick, panel.unit), 11, anchor="end")]
    for number, (at, _) in enumerate(marks):
        out += [f'<path d="M{x(at):.1f} {y0 + TOP} v{height}" stroke="{GREY}" stroke-dasharray="3 3"/>',
                text(x(at) + 3, y0 + TOP + 9, "AB"[number], 10)]
    for number, (name, points) in enumerate(panel.series):
        color = COLORS[number % len(COLORS)]
        path = " L".join(f"{x(at):.1f} {y(value):.1f}" for at, value in points)
        at_y = y0 + TOP + height + 18 + LINE * number
        out += [f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="1.6"/>',
                f'<path d="M{x0 + 14} {at_y - 4:.1f} h16" stroke="{color}" stroke-width="3"/>',
                text(x0 + 36, at_y, f"{name}: {amount(points[-1][1], panel.unit)}", 11, DARK)]
    return out


def draw(panel, x0, y0, width, seconds, marks):
    out = [f'<rect x="{x0:.1f}" y="{y0}" width="{width:.1f}" height="{PANEL}" rx="3" fill="#ffffff" stroke="{PALE}"/>',
           text(x0 + 14, y0 + 21, panel.title, 13, DARK, bold=True)]
    middle = x0 + width / 2
    if not panel.series:
        return out + [text(middle, y0 + PANEL / 2, "no data", 14, anchor="middle"),
                      text(middle, y0 + PANEL / 2 + 20, panel.reason or "", 11, anchor="middle")]
    if panel.kind == "singlestat":
        value = amount(panel.series[0][1][-1][1], panel.unit)
        return out + [text(middle, y0 + PANEL / 2 + 20, value, 52, COLORS[2], "middle", bold=True)]
    return out + lines(panel, x0, y0, width, seconds, marks)


def wrapped(rows):
    """The rows as they are shown: a panel without a span is as wide as one, and begins one that it does not fit in."""
    for row in rows:
        shown = []
        for panel in row:
            panel.span = panel.span or COLUMNS
            if shown and sum(each.span for each in shown) + panel.span > COLUMNS:
                yield shown
                shown = []
            shown.append(panel)
        yield shown


def svg(title, rows, seconds, marks):
    """`rows` of panels; `marks` are (seconds, what happened)."""
    rows = list(wrapped(rows))
    height = HEAD + len(rows) * (PANEL + GAP)
    happened = "; ".join(f"{'AB'[number]}: {what}" for number, (_, what) in enumerate(marks))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif">',
           '<rect width="100%" height="100%" fill="#f6f7f9"/>', text(GAP, 30, title, 19, DARK, bold=True),
           text(GAP, 52, f"{seconds:.0f} s. {happened}", 13)]
    for number, row in enumerate(rows):
        x0 = GAP
        for panel in row:
            width = panel.span / COLUMNS * (WIDTH - GAP)
            out += draw(panel, x0, HEAD + number * (PANEL + GAP), width - GAP, seconds, marks)
            x0 += width
    return "\n".join(out + ["</svg>"]) + "\n"
