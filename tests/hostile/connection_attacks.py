"""Attacks by connections: too many, silent ones, ones that begin wrongly, busy ones."""

import resource

import http2
from attack import BEARS, GOES, Attack

IDLE_SETTLES_S = 0.3
OPENED_AT_A_TIME = 50
DESCRIPTORS_RESERVED = 100  # of this process, for all that is not a connection


def open_many(scene, **options):
    """Opens the attack's connections; those that the server does not take stay in its backlog or are refused."""
    count = min(scene.size["connections"], resource.getrlimit(resource.RLIMIT_NOFILE)[0] - DESCRIPTORS_RESERVED)
    for number in range(count):
        scene.connect(**options)
        if number % OPENED_AT_A_TIME == 0:
            scene.wires.turn(0)
    scene.note(f"{count} connections opened")


def descriptors(scene):
    open_many(scene)
    scene.run_to_end()
    answered = sum(peer.frames[http2.SETTINGS] > 0 for peer in scene.peers)
    scene.note(f"{answered} of them were served")


def idle(scene):
    open_many(scene)
    scene.run(scene.patience_s, lambda: all(not peer.open or peer.frames[http2.SETTINGS] for peer in scene.peers))
    scene.run(IDLE_SETTLES_S)
    scene.mark("held")
    scene.run(scene.seconds)


def half_open(scene):
    """A quarter each: nothing, half of the preface, the preface without SETTINGS, half of a request of HTTP/1.1."""
    beginnings = (b"", http2.PREFACE[:12], http2.PREFACE, b"GET /health HTTP/1.1\r\nHost: ")
    for number in range(scene.size["connections"]):
        peer = scene.connect(hello=beginnings[number % len(beginnings)])
        peer.answers_frames = False
        if number % OPENED_AT_A_TIME == 0:
            scene.wires.turn(0)
    scene.await_ends()
    scene.run_to_end()


def churn(scene):
    """Connections that come, begin a call, and are broken off."""
    opened = http2.hello() + http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.request_block(http2.RANGE))
    while len(scene.peers) < scene.size["connections"]:
        peer = scene.connect(hello=opened)
        scene.wires.turn(0)
        peer.break_off()
    scene.run_to_end()


def random_bytes(scene):
    """Every other connection begins with the preface. The bytes are more than a frame holds, so that no server has a
    reason to wait for the rest."""
    def act():
        peer = scene.connect(hello=(http2.PREFACE if len(scene.peers) % 2 else b"") +
                             scene.prng.randbytes(scene.size["bytes"]))
        return [peer]

    scene.again_and_again(act)


def busy(scene):
    """Each client has one call under way; every tenth is a put."""
    scene.answered = 0
    block = {True: http2.request_block(http2.PUT), False: http2.request_block(http2.RANGE)}
    value = b"v" * scene.size["value_bytes"]
    put, get = http2.put_request(b"busy", value), http2.range_request(b"busy")

    def ask(peer, stream):
        is_put = scene.prng.random() < 0.1
        peer.send(http2.call(stream, block[is_put], put if is_put else get))

    def follow(peer):
        def on_finished(stream):
            scene.answered += 1
            if scene.time_left():
                ask(peer, stream + 2)
        return on_finished

    open_many(scene)
    for peer in scene.peers:
        peer.on_finished = follow(peer)
        ask(peer, 1)
    scene.run_to_end()
    scene.note(f"{scene.answered / scene.seconds:.0f} calls answered per second")


ATTACKS = {
    "descriptors": Attack(
        "more connections than the server may have descriptors", descriptors,
        dict(connections=800), dict(connections=2000), BEARS, 48, descriptors=512),
    "idle": Attack(
        "idle connections", idle, dict(connections=1000), dict(connections=10000), BEARS, 16, idle_kib_max=20),
    "churn": Attack(
        "connections that come and go", churn, dict(connections=2000), dict(connections=20000), BEARS, 32),
    "half-open": Attack(
        "connections that send half of their beginning, or nothing", half_open,
        dict(connections=400), dict(connections=4000), GOES, 48),
    "random-bytes": Attack(
        "random bytes", random_bytes, dict(connections=200, bytes=40000), dict(connections=2000), GOES, 32),
    "busy": Attack(
        "busy clients", busy, dict(connections=200, value_bytes=100), dict(connections=1000), BEARS, 64),
}
