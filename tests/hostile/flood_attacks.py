"""Attacks by frames that carry nothing, and by windows."""

import http2
from attack import BEARS, GOES, REFUSES, Attack
from header_attacks import pour_again


def flood(make):
    """An attack that pours make(number): every other connection does not read what is answered."""
    def attack(scene):
        def act():
            peer = scene.connect(reads=len(scene.peers) % 2 == 0)
            scene.pour(peer, make, scene.size["frames"])
            scene.mark("poured")
            return [peer]

        scene.again_and_again(act)
        scene.note(f"{max(peer.sent for peer in scene.peers) // 1000} kB at most on a connection")
    return attack


def on_a_call(make):
    """An attack that opens one call which stays open, and pours make(number) on it."""
    opened = http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.request_block(http2.HEALTH_WATCH))

    def attack(scene):
        pour_again(scene, lambda number: opened if number == 0 else make(number), scene.size["frames"],
                   hello=http2.hello(initial_window_size=http2.FIRST_WINDOW))
    return attack


def window_overflow(scene):
    """Windows beyond 2^31 - 1, by each of the three ways, and an increment of nothing."""
    opened = http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.request_block(http2.HEALTH_WATCH))
    ways = (http2.window_update(0, http2.WINDOW_MAX), http2.window_update(0, 0),
            opened + http2.window_update(1, http2.WINDOW_MAX), http2.settings(initial_window_size=2 ** 31))

    def act():
        peer = scene.connect()
        peer.send(ways[len(scene.peers) % len(ways)])
        scene.run(scene.patience_s, lambda: not peer.open or peer.resets)
        refused = not peer.open or peer.resets
        if refused and peer.open:
            scene.note("a stream's window beyond its bound resets the stream")
            peer.leave("left by the attacker")
        return [peer]

    scene.again_and_again(act)
    scene.notes = sorted(set(scene.notes))


def ask_for_much(scene, peer, payload=http2.range_request(b"large", b"large~")):
    """Calls on the connection that each ask for all that is stored, or for what is given."""
    block = http2.request_block(http2.RANGE)
    for number in range(scene.size["streams"]):
        peer.send(http2.call(2 * number + 1, block, payload))


UNREAD_STALL_S = 0.3  # without a byte that leaves: the server reads no more


def unread_calls(scene):
    """Small calls without end, whose answers are not read."""
    block, payload = http2.request_block(http2.RANGE), http2.range_request(b"ordinary")
    for _ in range(scene.size["connections"]):
        peer = scene.connect(reads=False, receive_bytes=4096)
        sent = scene.pour(peer, lambda number: http2.call(2 * number + 1, block, payload), scene.size["calls"],
                          UNREAD_STALL_S)
        scene.note(f"{sent} of {scene.size['calls']} calls sent")
    scene.run_to_end()


def tiny_windows(scene):
    """Answers are taken byte by byte."""
    peer = scene.connect(hello=http2.hello(initial_window_size=1))
    ask_for_much(scene, peer)
    updates = b"".join(http2.window_update(2 * number + 1, 1) for number in range(scene.size["streams"]))
    sent = 0
    while peer.open and scene.time_left() and sent < scene.size["updates"]:
        if peer.room:
            peer.send(updates)
            sent += scene.size["streams"]
        scene.wires.turn()
    scene.note(f"{sent} updates of one byte sent, {peer.frames[http2.DATA]} DATA frames received")
    scene.run_to_end()


def zero_window(scene):
    """Answers of one large value that may not leave: the streams have no window."""
    for _ in range(scene.size["connections"]):
        peer = scene.connect(hello=http2.hello(initial_window_size=0))
        ask_for_much(scene, peer, http2.range_request(b"large-0000"))
    scene.run(max(scene.seconds, scene.size["hold_s"]), lambda: not any(peer.open for peer in scene.peers))
    scene.run_to_end()


def slow_reader(scene):
    """Windows are wide, but no byte is read."""
    for _ in range(scene.size["connections"]):
        ask_for_much(scene, scene.connect(reads=False, receive_bytes=4096))
    scene.run(max(scene.seconds, scene.size["hold_s"]), lambda: not any(peer.open for peer in scene.peers))
    scene.run_to_end()


LARGE = dict(keys=16, bytes=1000000, full_keys=44)

ATTACKS = {
    "settings-flood": Attack(
        "SETTINGS without end", flood(lambda _: http2.settings(initial_window_size=65535)),
        dict(frames=50000, connections=10), dict(frames=1000000, connections=50), GOES, 32),
    "ping-flood": Attack(
        "PING without end", flood(lambda _: http2.ping()), dict(frames=50000, connections=10),
        dict(frames=1000000, connections=50), GOES, 32),
    "priority-flood": Attack(
        "PRIORITY without end", flood(lambda number: http2.priority(2 * number + 1)),
        dict(frames=100000, connections=10), dict(frames=1000000, connections=50), GOES, 48),
    "window-flood": Attack(
        "WINDOW_UPDATE of one byte without end", on_a_call(lambda _: http2.window_update(1, 1)),
        dict(frames=100000, connections=10), dict(frames=1000000, connections=50), GOES, 32),
    "empty-data": Attack(
        "DATA without a byte, without end", on_a_call(lambda _: http2.frame(http2.DATA, 0, 1)),
        dict(frames=100000, connections=10), dict(frames=1000000, connections=50), GOES, 32),
    "unread-calls": Attack(
        "small calls whose answers are not read", unread_calls, dict(calls=50000, connections=2),
        dict(calls=1000000, connections=4), BEARS, 48),
    "window-overflow": Attack(
        "windows beyond their bound", window_overflow, dict(connections=40), dict(connections=1000), REFUSES, 32),
    "tiny-windows": Attack(
        "answers read byte by byte", tiny_windows, dict(streams=40, updates=20000), dict(updates=1000000), BEARS, 288,
        store=LARGE),
    "zero-window": Attack(
        "streams without a window that ask for much", zero_window, dict(streams=400, connections=1, hold_s=1),
        dict(streams=1000, hold_s=15), BEARS, 288, store=LARGE),
    "slow-reader": Attack(
        "a reader that asks for much and does not read", slow_reader, dict(streams=40, connections=1, hold_s=1),
        dict(hold_s=15), BEARS, 288, store=LARGE),
}
