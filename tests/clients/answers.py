"""Brings what clients print into one form, and compares it with what is expected."""

import base64
import binascii
import fnmatch
import json
import re

from scenario import BYTES, FILL

IDENTITIES = ("cluster_id", "member_id", "raft_term")  # differ from server to server
REVISIONS = ("revision", "create_revision", "mod_revision", "compact_revision")
LONG = 64  # bytes of a value from which on it is shown by its length
SKIPPED = "SKIPPED"
UNKNOWN_ERROR = "ERROR"  # of a client that does not show the code


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def code_in_capitals(code):
    """InvalidArgument and INVALID_ARGUMENT are one; Go writes Canceled."""
    name = code if code.isupper() else snake(code).upper()
    return "CANCELLED" if name == "CANCELED" else name


def text_of(encoded):
    try:
        text = base64.b64decode(encoded, validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return encoded
    return f"*{len(text)}" if len(text) > LONG and set(text) == {FILL} else text


def number_of(value):
    """Protocol buffers' JSON has 64-bit numbers as strings."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value


def relative(value, base):
    return f"@{value - base}" if isinstance(value, int) and value >= base else value


def normal(value, base, name=None):
    """A message without identities and defaults, with bytes as text and revisions relative to `base`."""
    if isinstance(value, dict):
        if list(value) == ["Response"]:  # etcdctl shows the oneof
            return normal(value["Response"], base)
        fields = {snake(key): normal(each, base, snake(key)) for key, each in value.items()}
        return {key: each for key, each in fields.items()
                if key not in IDENTITIES and (each not in (0, "", [], False, None) or each == {})}
    if isinstance(value, list):
        return [normal(each, base, name) for each in value]
    if name in BYTES and isinstance(value, str):
        return text_of(value)
    if name == "code":
        return code_in_capitals(value)
    value = number_of(value)
    return relative(value, base) if name in REVISIONS else value


def message(text):
    """The JSON of a text, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def normal_answer(code, text, base):
    """(code, text), where a message is JSON with sorted keys."""
    code = code_in_capitals(code)
    found = message(text) if code == "OK" else None
    return (code, text.strip()) if found is None else (code, json.dumps(normal(found, base), sort_keys=True))


def glob(pattern):
    """Only * is special."""
    return re.sub(r"([\[\]?])", r"[\1]", pattern)


def fits(answer, expected):
    code, text = answer
    wanted_code, wanted = expected
    if code != wanted_code and not (code == UNKNOWN_ERROR and wanted_code != "OK"):
        return False
    if message(wanted) is not None:
        return message(text) == message(wanted)
    return fnmatch.fnmatchcase(text, glob(wanted))
