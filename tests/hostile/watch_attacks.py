"""Attacks by watches: what waits for their clients, and how many there may be."""

import http2
from attack import BEARS, Attack
from body_attacks import Body, send_bodies

WATCH = "/etcdserverpb.Watch/Watch"
WRONG = http2.message(b"\xff\xff")  # no message of Protocol Buffers
CREATES_AT_ONCE = 500
PAUSE_S = 0.7       # between what a client reads
TURN_BYTES = 16384  # that it reads then
NEXT_S = 0.05       # until it is the next stream's turn


def create(key, end=b"", start_revision=0):
    asked = http2.field(1, key) + (http2.field(2, end) if end else b"")
    if start_revision:
        asked += http2.varint(3 << 3) + http2.varint(start_revision)
    return http2.message(http2.field(1, asked))


def open_stream(peer, stream):
    peer.send(http2.frame(http2.HEADERS, http2.END_HEADERS, stream, http2.request_block(WATCH)))


def ended_watches(scene):
    """One connection's watches of all that was written, a little of which it reads; then the server has to end them,
    one after the other, so that the next one has its turn for a large response. Those that have a turn are full: the
    message that would end them is not read."""
    peer = scene.connect(hello=http2.hello(initial_window_size=0))
    asked = create(b"large", b"large~", start_revision=1)
    ended = 0
    for _ in range(scene.size["rounds"]):
        streams = [2 * number + 1 for number in range(ended, ended + scene.size["streams"])]
        for stream in streams:
            open_stream(peer, stream)
            peer.send_data(stream, asked)
            peer.send(http2.window_update(stream, TURN_BYTES))
        scene.run(PAUSE_S, lambda: not peer.open)
        for stream in streams:
            peer.send_data(stream, WRONG)
            ended += 1
            scene.run(NEXT_S, lambda: not peer.open or peer.resets.total() >= ended)
    scene.run_to_end()
    scene.note(f"{peer.resets.total()} of {ended} streams ended, {peer.received // 1000} kB taken")


def refused_creates(scene):
    """Creates of watches that are refused, without end, on a stream whose client takes no answer."""
    peer = scene.connect(hello=http2.hello(initial_window_size=0))
    open_stream(peer, 1)
    asked = create(b"b", b"a")
    many = asked * CREATES_AT_ONCE
    sent = 0
    while peer.open and sent < scene.size["creates"]:
        body = Body(peer, 1, many, ends=False)
        send_bodies(scene, [body], 0)
        scene.check_unread()
        sent += CREATES_AT_ONCE - -(-len(body.data) // len(asked))
        if body.left:
            break
    scene.run_to_end()
    scene.note(f"{sent} of {scene.size['creates']} creates sent")


def many_watches(scene):
    """Connections that each open as many watches as they are given."""
    for number in range(scene.size["connections"]):
        peer = scene.connect()
        open_stream(peer, 1)
        body = Body(peer, 1, create(b"many-%04d" % number) * scene.size["watches"], ends=False)
        send_bodies(scene, [body], scene.patience_s)
    scene.run_to_end()
    scene.note(f"{scene.size['connections'] * scene.size['watches']} watches asked for")


LARGE = dict(keys=16, bytes=1000000)

ATTACKS = {
    "ended-watches": Attack(
        "watches whose clients read little, until the server ends them", ended_watches, dict(rounds=1, streams=100),
        dict(rounds=10, streams=250), BEARS, 64, store=LARGE),
    "refused-creates": Attack(
        "refused creates of watches whose answers are not taken", refused_creates, dict(creates=100000),
        dict(creates=3000000), BEARS, 32),
    "many-watches": Attack(
        "all watches that there may be", many_watches, dict(connections=17, watches=10000),
        dict(watches=20000), BEARS, 96),
}
