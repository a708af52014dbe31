"""The pure parts: what the tool has printed, rates and their spread, and the comparison of servers."""
import re
import statistics
import typing


class ToolError(Exception):
    """What the tool has measured is no figure: requests failed, or it printed none."""


class Point(typing.NamedTuple):
    """What is measured."""
    operation: str  # put or range
    clients: int


class Spread(typing.NamedTuple):
    median: float
    least: float
    most: float


def rate_of(output):
    """Requests a second, from the tool's output. A failed request makes all of it worthless: it took no work."""
    errors = re.search(r"^Error distribution:\s+\[(\d+)\]\s+(.*)$", output, re.M)
    if errors:
        raise ToolError(f"at least {errors[1]} requests failed: {errors[2].strip()}")
    rate = re.search(r"^\s*Requests/sec:\s+(\S+)$", output, re.M)
    if not rate:
        raise ToolError("it printed no rate")
    try:
        value = float(rate[1])
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise ToolError(f"it printed {rate[1]} as its rate")
    return value


def spread_of(values):
    return Spread(statistics.median(values), min(values), max(values))


def ratio_of(of, to):
    """Of two servers' rates, round by round: those of one round were measured one right after the other."""
    return spread_of([one / other for one, other in zip(of, to, strict=True)])


def in_turn(servers, round_number):
    """The servers in the order of a round: each comes first in its turn."""
    first = round_number % len(servers)
    return servers[first:] + servers[:first]


def requests_for(seconds, rate, clients):
    """As many as take so long at this rate, and at least one for each client."""
    return max(clients, round(seconds * rate))


def comparison(point, rates, data, remarks):
    """One object of the output: ingotd beside etcd with its data there. `rates` are lists by server; `remarks` hold for
    the whole run."""
    ingot, etcd, empty = rates["ingotd"], rates[f"etcd {data}"], rates.get("empty")
    spreads = {"ingot_per_s": (spread_of(ingot), 1), "etcd_per_s": (spread_of(etcd), 1),
               "ratio": (ratio_of(ingot, etcd), 3)}
    more = {"empty_per_s": (spread_of(empty), 1), "ratio_to_empty": (ratio_of(ingot, empty), 3)} if empty else {}
    result = {"operation": point.operation, "clients": point.clients}
    result.update({name: round(spread.median, digits) for name, (spread, digits) in spreads.items()})
    result["etcd_data"] = data
    result.update({name: round(spread.median, digits) for name, (spread, digits) in more.items()})
    for name, (spread, digits) in {**spreads, **more}.items():
        result[f"{name}_min"], result[f"{name}_max"] = round(spread.least, digits), round(spread.most, digits)
    return {**result, "rounds": len(ingot), **remarks}
