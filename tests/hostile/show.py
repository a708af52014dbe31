"""Results of attacks as text: one by one as they come, or side by side as rows of a document."""

import json

from attack import REFUSES
from attacker import ATTACKS
from trial import refused


def shown(value):
    return "-" if value is None else f"{value:.1f}"


def each_connection(result):
    return f", {result['kib_each']} KiB each" if result["kib_each"] else ""


def paragraph(result):
    """What happened, in a few lines; the last ones name what was not kept."""
    errors = ", ".join(f"{count} {name}" for name, count in result["errors"].items()) or "no error"
    left = result["descriptors_after"]
    return "\n  ".join([
        f"{result['attack']} on {result['target']} ({result['title']})",
        result["did"],
        f"memory: {shown(result['peak_mib'])} MiB more at most, {shown(result['after_mib'])} MiB more after it"
        f"{each_connection(result)}; descriptors after it: {'-' if left is None else f'{left:+}'}",
        f"ordinary client: {result['calls_answered']} answers, p50 {shown(result['p50_ms'])} ms, p99 "
        f"{shown(result['p99_ms'])} ms (before the attack {shown(result['quiet_p99_ms'])}), at most "
        f"{shown(result['max_ms'])} ms; {errors}",
        *[f"NOT KEPT: {sentence}" for sentence in result["broken"]]])


def fate(result):
    """Of the attacker, in a word or two."""
    ended = result["connections"] - result["kept"]
    if result["kept"] + result["left"] == 0:
        return "ended"
    if ATTACKS[result["attack"]].demand == REFUSES and refused(result):
        return "refused"
    if result["kept"] == 0:
        return "served"
    return "kept" if ended == 0 else f"{ended} of {result['connections']} ended"


def rounded(value):
    """Without digits that say nothing."""
    return "-" if value is None else f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def cell(result):
    parts = [fate(result)]
    if result["same_process"]:
        left = max(0, round(result["after_mib"]))
        parts.append(f"{result['peak_mib']:.0f} MiB, {left} stay{each_connection(result)}")
    else:
        parts.append(f"{result['peak_mib']:.0f} MiB, and the server's end")
    parts.append(f"{rounded(result['p99_ms'])} ms ({rounded(result['quiet_p99_ms'])} before)")
    parts += [f"{count} {name}" for name, count in result["errors"].items()]
    parts += [] if result["new_client_s"] is not None or not result["same_process"] else ["no new client is served"]
    return "; ".join(parts)


def comparison(runs):
    """Rows of Markdown, a column for each server of each run. `runs` are (name, path) of what -o json has printed; a
    server's column is named after both if there is more than one run."""
    columns = {}
    for name, path in runs:
        with open(path) as file:
            for result in map(json.loads, file):
                heading = f"{result['target']} {name}".strip()
                columns.setdefault(heading, {})[result["attack"]] = cell(result)
    yield "| attack | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name, attack in ATTACKS.items():
        cells = [column.get(name, "-") for column in columns.values()]
        yield "| " + " | ".join([f"`{name}`: {attack.title}", *cells]) + " |"
