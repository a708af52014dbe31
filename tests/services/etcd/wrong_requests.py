"""Requests for the JSON gateway that are wrong, kind by kind, drawn from a seed. The kinds of JSON itself are made of a
read, so that one that is right after all changes nothing."""

import base64
import json
import re

NO_UTF8 = "\udcff"  # stands for a byte of 255
FUTURE = 1 << 40  # a revision, or a lease, that there is not


def b64(text):
    return base64.b64encode(text.encode()).decode()


def key(prng):
    return b64(prng.choice("abcdef"))


def read(prng):
    return {"key": key(prng), "range_end": prng.choice(["", b64("z")]), "limit": str(prng.randrange(5)),
            "sort_order": prng.choice(["NONE", "ASCEND", "DESCEND"]), "keys_only": prng.random() < 0.5}


def mutated(prng):
    """A read's text with some characters taken out, doubled or replaced."""
    text = list(json.dumps(read(prng)))
    for _ in range(prng.randrange(1, 4)):
        at = prng.randrange(len(text))
        text[at] = prng.choice(["", text[at] * 2, prng.choice('{}[]",:\\0 \x01e-.xtn'), "null", "é", "😀", NO_UTF8])
    return "kv/range", "".join(text)


def cut(prng):
    text = json.dumps(read(prng))
    return "kv/range", text[:prng.randrange(1, len(text) - 1)]


def mistyped(prng):
    """A field with a value of another kind."""
    body = read(prng)
    field, wrong = prng.choice([("key", [7, 1.5, True, {}, [], "!", "a", "====", "YQ==="]),
                                ("limit", ["x", "", 1.5, "1.5", "9223372036854775808", True, {}, [], "1x", " 1"]),
                                ("keys_only", ["true", 1, 0, "", {}, []]),
                                ("sort_order", ["UP", "none", 1.5, True, {}, []]),
                                ("revision", [{}, [], "--1", "0x1", "99999999999999999999"])])
    body[field] = prng.choice(wrong)
    return "kv/range", body


def only_since_3_6(body):
    """Whether bytes stand there in a base64 that etcd up to 3.5 does not read: without padding, or with - and _."""
    text = body if isinstance(body, str) else json.dumps(body)
    return any(len(value) % 4 or re.search("[-_]", value) for value in re.findall(r':\s*"([\w+/-]*=*)"', text))


def put(prng):
    lease = str(prng.randrange(1, FUTURE))
    return "kv/put", prng.choice([
        {"value": b64("1")}, {}, {"key": key(prng), "lease": lease}, {"key": key(prng), "lease": "-" + lease},
        {"key": b64("none" + lease), "ignore_value": True}, {"key": b64("none" + lease), "ignore_lease": True},
        {"key": key(prng), "value": b64("1"), "ignore_value": True},
        {"key": key(prng), "lease": lease, "ignore_lease": True}])


def wrong_range(prng):
    future = str(prng.randrange(1 << 30, FUTURE))
    return "kv/range", prng.choice([
        {}, {"range_end": key(prng)}, {"serializable": True}, {**read(prng), "revision": future},
        {"key": key(prng), "revision": future, "serializable": True, "count_only": True}])


def deletion(prng):
    return "kv/deleterange", prng.choice([{}, {"range_end": key(prng)}, {"prev_kv": True}])


def operation(prng):
    """An operation of a transaction, which is wrong."""
    _, wrong_put = put(prng)
    _, wrong_read = wrong_range(prng)
    again = {"request_put": {"key": key(prng)}}
    return prng.choice([[{"request_put": wrong_put}], [{"request_range": wrong_read}], [again, again],
                        [{"request_delete_range": {}}], [{"request_txn": {"success": [again, again]}}],
                        [{"request_range": read(prng)}] * prng.randrange(129, 140)])


def transaction(prng):
    wrong, right = operation(prng), [{"request_range": read(prng)}]
    compare = [{"key": key(prng), "target": "VERSION", "result": "GREATER", "version": str(FUTURE)}]
    return "kv/txn", prng.choice([
        {"compare": compare, "failure": wrong}, {"compare": compare, "success": right, "failure": wrong},
        {"success": wrong}, {"compare": [{"target": "VERSION"}], "success": right}])


def compaction(prng):
    return "kv/compaction", {"revision": str(prng.choice([prng.randrange(1 << 30, FUTURE), 1, 0, -1, -FUTURE])),
                             "physical": prng.random() < 0.5}


def lease(prng):
    number = str(prng.randrange(1, FUTURE))
    return prng.choice([
        ("lease/grant", {"TTL": str(9_000_000_001 + prng.randrange(FUTURE)), "ID": number}),
        ("lease/grant", {"TTL": "100", "ID": "77"}), ("lease/revoke", {"ID": number}), ("lease/revoke", {}),
        ("kv/lease/revoke", {"ID": "-" + number}), ("lease/timetolive", {"ID": number, "keys": True}),
        ("lease/keepalive", {"ID": number})])


def member(prng):
    number = str(prng.randrange(1, FUTURE))
    return prng.choice([
        ("cluster/member/remove", {"ID": number}), ("cluster/member/promote", {"ID": number}),
        ("cluster/member/update", {"ID": number, "peerURLs": ["http://127.0.0.1:1"]})])


def path(prng):
    """Go cleans paths with "." and "//" by a redirection (301), so they are left out."""
    words = ["kv", "range", "lease", "put", "cluster", "member", "list", "v3", "x", "%20", "watch"]
    return "/".join(prng.choice(words) for _ in range(prng.randrange(2, 6))) + "/x", read(prng)


OF_JSON = [mutated, cut, mistyped]
KINDS = OF_JSON + [put, wrong_range, deletion, transaction, compaction, lease, member, path]
