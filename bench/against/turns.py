"""Measures the servers by turns."""
import collections
import sys

from .figures import in_turn, requests_for
from .tool import measure

WARM_UP_REQUESTS = 500             # at least
WARM_UP_REQUESTS_EACH_CLIENT = 40  # at least


class Turns:
    """Keeps the last rate of each server, which says how many requests take as long as they should."""

    def __init__(self, tool, servers, flags):
        self.tool, self.servers, self.flags = tool, servers, flags

    def requests(self, last_rate, clients):
        if self.flags.requests:
            return max(self.flags.requests, clients)
        return requests_for(self.flags.seconds, last_rate, clients)

    def warm_up(self, point):
        """A short run of each server, which counts for nothing."""
        requests = max(WARM_UP_REQUESTS, WARM_UP_REQUESTS_EACH_CLIENT * point.clients)
        if self.flags.requests:
            requests = max(point.clients, min(requests, self.flags.requests))
        return {server.name: measure(self.tool, server, point, requests, self.flags) for server in self.servers}

    def rates(self, point):
        """Lists by server, equal indexes from the same round."""
        last = self.warm_up(point)
        found = collections.defaultdict(list)
        for number in range(self.flags.rounds):
            for server in in_turn(self.servers, number):
                if point.operation == "put":
                    server.compact()
                requests = self.requests(last[server.name], point.clients)
                last[server.name] = measure(self.tool, server, point, requests, self.flags)
                found[server.name].append(last[server.name])
            shown = ", ".join(f"{server.name} {last[server.name]:.0f}/s" for server in self.servers)
            print(f"{point.operation}, {point.clients} clients, round {number + 1} of {self.flags.rounds}: {shown}",
                  file=sys.stderr)
        return found
