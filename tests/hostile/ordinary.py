#!/usr/bin/env python3
"""An ordinary client beside an attack: one put or linearizable get at a time, each at its time, over gRPC's own
library. Prints a line for each, until standard input ends: the intended time by the machine's monotonic clock,
milliseconds from then to the answer, and the error or OK. A line on standard input lets it begin anew: what it has
missed by then is not made up for.

    tests/hostile/ordinary.py HOST:PORT
"""
import sys
import threading
import time

import grpc

import http2

INTERVAL_S = 0.005
DEADLINE_S = 60   # a watchdog, not a demand
KEY, VALUE = b"ordinary", b"v" * 100


class Client:
    def __init__(self, endpoint):
        # A pool of its own: never another channel's connection.
        self.channel = grpc.insecure_channel(endpoint, options=[("grpc.use_local_subchannel_pool", 1)])
        self.put_call = self.channel.unary_unary(http2.PUT)
        self.range_call = self.channel.unary_unary(http2.RANGE)

    def put(self, key, value, timeout_s=DEADLINE_S):
        self.put_call(http2.put_request(key, value), timeout=timeout_s)

    def tries_put(self, key, value):
        """Whether it was answered; not if the server could not do it in time."""
        try:
            self.put(key, value)
            return True
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            return False

    def get(self, key, timeout_s=DEADLINE_S):
        return self.range_call(http2.range_request(key), timeout=timeout_s)

    def close(self):
        self.channel.close()


def refusal_of_a_new_client(endpoint, timeout_s):
    """What is wrong with the answers to a client that comes now; an empty text if they are right."""
    client = Client(endpoint)
    begin = time.monotonic()
    try:
        client.put(KEY, VALUE, timeout_s)
        return "" if VALUE in client.get(KEY, timeout_s) else "its get found another value than it had put"
    except grpc.RpcError as error:
        return f"{error.code().name} after {time.monotonic() - begin:.1f} s: {error.details()}"
    finally:
        client.close()


def sample(client, number, intended):
    """A call that is late is measured from when it should have begun, so that one long wait counts for all calls that
    it delays."""
    outcome = "OK"
    try:
        if number % 2:
            client.put(KEY, VALUE)
        else:
            client.get(KEY)
    except grpc.RpcError as refusal:
        outcome = refusal.code().name
    print(f"{intended:.6f} {(time.monotonic() - intended) * 1000:.3f} {outcome}", flush=True)


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(f"ordinary.py: one argument is needed, not {' '.join(arguments)}; see --help", file=sys.stderr)
        return 2
    ended, anew = threading.Event(), threading.Event()

    def listen():
        for _ in sys.stdin:
            anew.set()
        ended.set()

    threading.Thread(target=listen, daemon=True).start()
    client = Client(arguments[0])
    while not client.tries_put(KEY, VALUE):
        pass
    began, number = time.monotonic(), 0
    while not ended.is_set():
        if anew.is_set():
            anew.clear()
            began, number = time.monotonic(), 0
        intended = began + number * INTERVAL_S
        time.sleep(max(0, intended - time.monotonic()))
        sample(client, number, intended)
        number += 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
