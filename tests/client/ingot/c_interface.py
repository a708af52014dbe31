"""client/ingot/ingot.h through ctypes, so that tests call what programs load, with whatever arguments they like."""

import ctypes
import os
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p

LIBRARY = "client/ingot/libingot.so"
HEADER = "client/ingot/ingot.h"
MESSAGE_BYTES = 512

lib = ctypes.CDLL(os.path.abspath(LIBRARY))


def header_text():
    with open(HEADER) as file:
        return file.read()


def error_codes():
    """{"INGOT_OK": 0, ...}, as the header has them."""
    return {name: int(value) for name, value in re.findall(r"^  (INGOT_\w+) = (\d+)", header_text(), re.M)}


globals().update(error_codes())
NAMES = {value: name for name, value in error_codes().items()}


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("open_timeout_ms", c_int64), ("timeout_ms", c_int64), ("age_max_ms", c_int64),
                ("answer_size_max", c_size_t)]

    def __init__(self, **changed):
        fields = {"size": ctypes.sizeof(Options), "open_timeout_ms": 100_000, "timeout_ms": 100_000, "age_max_ms": -1,
                  "answer_size_max": 64 << 20}
        super().__init__(**{**fields, **changed})


class EntryFields(ctypes.Structure):
    _fields_ = [("key", c_void_p), ("key_size", c_size_t), ("value", c_void_p), ("value_size", c_size_t),
                ("mod_revision", c_int64), ("create_revision", c_int64), ("version", c_int64), ("lease", c_int64),
                ("deleted", c_int)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments


VIEW = c_void_p
ANSWER = c_void_p
declare("ingot_version", c_char_p)
declare("ingot_error_text", c_char_p, c_int)
declare("ingot_error_name", c_char_p, c_int)
declare("ingot_open", c_int, c_char_p, c_void_p, POINTER(VIEW), c_void_p, c_size_t)
declare("ingot_close", None, VIEW)
declare("ingot_message", c_char_p, VIEW)
declare("ingot_set_timeout", c_int, VIEW, c_int64)
declare("ingot_answer_new", ANSWER)
declare("ingot_answer_free", None, ANSWER)
declare("ingot_answer_count", c_size_t, ANSWER)
declare("ingot_answer_at", c_int, ANSWER, c_size_t, c_void_p)
declare("ingot_answer_revision", c_int64, ANSWER)
declare("ingot_answer_more", c_int, ANSWER)
declare("ingot_get", c_int, VIEW, c_char_p, c_size_t, c_void_p)
declare("ingot_get_several", c_int, VIEW, c_void_p, c_size_t, ANSWER)
declare("ingot_range", c_int, VIEW, c_char_p, c_size_t, c_char_p, c_size_t, c_size_t, ANSWER)
declare("ingot_prefix", c_int, VIEW, c_char_p, c_size_t, c_size_t, ANSWER)
declare("ingot_count", c_int, VIEW, c_char_p, c_size_t, c_char_p, c_size_t, c_void_p)
declare("ingot_count_prefix", c_int, VIEW, c_char_p, c_size_t, c_void_p)
declare("ingot_changes", c_int, VIEW, c_int64, ANSWER)
declare("ingot_revision", c_int64, VIEW)
declare("ingot_require", c_int, VIEW, c_int64)
declare("ingot_age", c_int, VIEW, c_void_p)
declare("ingot_identity", c_uint64, VIEW)
declare("ingot_wait", c_int, VIEW, c_char_p, c_size_t, c_int64, c_int64)
declare("ingot_wait_fd", c_int, VIEW)


class Failed(Exception):
    def __init__(self, code, message):
        super().__init__(f"{NAMES.get(code, code)}: {message}")
        self.code = code
        self.message = message


class Entry:
    """A copy of an ingot_entry."""

    def __init__(self, fields):
        self.key = ctypes.string_at(fields.key, fields.key_size)
        self.value = ctypes.string_at(fields.value, fields.value_size)
        for name in ("mod_revision", "create_revision", "version", "lease", "deleted"):
            setattr(self, name, getattr(fields, name))


class Answer:
    def __init__(self):
        self.handle = lib.ingot_answer_new()
        assert self.handle

    def __del__(self):
        lib.ingot_answer_free(self.handle)

    def at(self, index):
        """(error, entry)"""
        fields = EntryFields()
        return lib.ingot_answer_at(self.handle, index, byref(fields)), Entry(fields)

    def entries(self):
        found = [self.at(index) for index in range(lib.ingot_answer_count(self.handle))]
        return [entry if error == 0 else None for error, entry in found]

    def items(self):
        return {entry.key: entry.value for entry in self.entries()}

    def revision(self):
        return lib.ingot_answer_revision(self.handle)

    def more(self):
        return lib.ingot_answer_more(self.handle)


class View:
    """A view; calls that end with an error but INGOT_NOT_FOUND raise Failed. Use as a context manager."""

    def __init__(self, instance, **options):
        self.handle = VIEW()
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        error = lib.ingot_open(instance.encode(), byref(Options(**options)), byref(self.handle), message, MESSAGE_BYTES)
        if error != 0:
            assert not self.handle.value
            raise Failed(error, message.value.decode())
        assert message.value == b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        lib.ingot_close(self.handle)
        self.handle = VIEW()

    def message(self):
        return lib.ingot_message(self.handle).decode()

    def check(self, error):
        if error != 0:
            raise Failed(error, self.message())

    def get(self, key):
        """None: there is no such key."""
        fields = EntryFields()
        error = lib.ingot_get(self.handle, key, len(key), byref(fields))
        if NAMES[error] == "INGOT_NOT_FOUND":
            return None
        self.check(error)
        return Entry(fields)

    def get_several(self, *keys):
        answer = Answer()
        asked = (Bytes * len(keys))(*[Bytes(key, len(key)) for key in keys])
        self.check(lib.ingot_get_several(self.handle, asked, len(keys), answer.handle))
        return answer

    def range(self, begin, end, limit=0):
        answer = Answer()
        self.check(lib.ingot_range(self.handle, begin, len(begin), end, len(end), limit, answer.handle))
        return answer

    def prefix(self, prefix, limit=0):
        answer = Answer()
        self.check(lib.ingot_prefix(self.handle, prefix, len(prefix), limit, answer.handle))
        return answer

    def count(self, begin, end):
        count = c_uint64()
        self.check(lib.ingot_count(self.handle, begin, len(begin), end, len(end), byref(count)))
        return count.value

    def count_prefix(self, prefix):
        count = c_uint64()
        self.check(lib.ingot_count_prefix(self.handle, prefix, len(prefix), byref(count)))
        return count.value

    def changes(self, after):
        answer = Answer()
        self.check(lib.ingot_changes(self.handle, after, answer.handle))
        return answer

    def revision(self):
        return lib.ingot_revision(self.handle)

    def identity(self):
        return lib.ingot_identity(self.handle)

    def require(self, revision):
        self.check(lib.ingot_require(self.handle, revision))

    def set_timeout(self, timeout_ms):
        self.check(lib.ingot_set_timeout(self.handle, timeout_ms))

    def age(self):
        age_ms = c_int64()
        self.check(lib.ingot_age(self.handle, byref(age_ms)))
        return age_ms.value

    def wait(self, prefix, after, timeout_ms):
        """The error's number, 0 among them."""
        return lib.ingot_wait(self.handle, prefix, len(prefix), after, timeout_ms)

    def wait_fd(self):
        return lib.ingot_wait_fd(self.handle)
