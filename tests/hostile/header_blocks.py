"""HPACK (RFC 7541) as far as attacks need it: literals are written without Huffman's code and without the dynamic
table, and blocks are read that were written for a table of no bytes."""

# Appendix A, from index 1; values are only known for the entries that servers send.
STATIC = (":authority", ":method", ":method", ":path", ":path", ":scheme", ":scheme", (":status", "200"),
          (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"), (":status", "404"),
          (":status", "500"), "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "accept",
          "access-control-allow-origin", "age", "allow", "authorization", "cache-control", "content-disposition",
          "content-encoding", "content-language", "content-length", "content-location", "content-range",
          "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host", "if-match",
          "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link", "location",
          "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer", "refresh", "retry-after",
          "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via",
          "www-authenticate")

# Appendix B is a canonical code: the characters by the bits of their codes, in the order of their codes. Codes of more
# than 19 bits are for characters that no header here has.
HUFFMAN = {5: "012aceiost", 6: " %-./3456789=A_bdfghlmnpru", 7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", 8: "&*,;XZ",
           10: "!\"()?", 11: "'+|", 12: "#>", 13: "\0$@[]~", 14: "^}", 15: "<`{", 19: "\\\xc3\xd0"}


def _codes():
    codes, code, before = {}, 0, 0
    for bits, characters in HUFFMAN.items():
        code <<= bits - before
        before = bits
        for character in characters:
            codes[bits, code] = character
            code += 1
    return codes


CODES = _codes()


# ---- Writing ----

def _number(value, prefix_bits, pattern=0):
    most = (1 << prefix_bits) - 1
    if value < most:
        return bytes((pattern | value,))
    encoded = bytes((pattern | most,))
    value -= most
    while value >= 0x80:
        encoded += bytes((value & 0x7f | 0x80,))
        value >>= 7
    return encoded + bytes((value,))


def _text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return _number(len(value), 7) + value


def literal(name, value):
    """A field that the reader does not keep."""
    return b"\0" + _text(name) + _text(value)


def literal_start(name, value_bytes):
    """The part of such a field that stands before its value."""
    return b"\0" + _text(name) + _number(value_bytes, 7)


def kept_literal(name, value):
    """A field that the reader keeps in its dynamic table, then with index 62."""
    return b"\x40" + _text(name) + _text(value)


def indexed(index):
    return _number(index, 7, 0x80)


# ---- Reading ----

class _Reader:
    def __init__(self, block):
        self.block, self.at = block, 0

    def number(self, prefix_bits):
        most = (1 << prefix_bits) - 1
        value = self.block[self.at] & most
        self.at += 1
        shift = 0
        while value >= most:
            byte = self.block[self.at]
            self.at += 1
            value += (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        return value

    def text(self):
        huffman = self.block[self.at] & 0x80
        length = self.number(7)
        raw = self.block[self.at:self.at + length]
        self.at += length
        return huffman_text(raw) if huffman else raw.decode("latin-1")

    def name(self, prefix_bits):
        index = self.number(prefix_bits)
        return _entry(index)[0] if index else self.text()


def _entry(index):
    """(name, value); of an entry that is not known here, question marks."""
    entry = STATIC[index - 1] if 0 < index <= len(STATIC) else "?"
    return entry if isinstance(entry, tuple) else (entry, "?")


def huffman_text(raw):
    text, code, bits = "", 0, 0
    for byte in raw:
        for shift in range(7, -1, -1):
            code = code << 1 | byte >> shift & 1
            bits += 1
            if (bits, code) in CODES:
                text += CODES[bits, code]
                code = bits = 0
            elif bits > 30:
                return text + "?"
    return text


def fields_of(block):
    """The fields of a block, by name."""
    reader, found = _Reader(block), {}
    while reader.at < len(block):
        first = block[reader.at]
        if first & 0x80:
            name, value = _entry(reader.number(7))
        elif first & 0xe0 == 0x20:  # the dynamic table's size
            reader.number(5)
            continue
        else:
            name = reader.name(6 if first & 0x40 else 4)
            value = reader.text()
        found[name] = value
    return found
