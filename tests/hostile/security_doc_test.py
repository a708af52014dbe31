"""docs/security.md names each bound of the front door, with the value that it has.

It reads the repository through the link to its root."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))
LIMITS = ("services/rpc/server/limits.h", "services/rpc/json/limits.h", "services/rpc/passing/limits.h",
          "services/watch/limits.h")
USED = ("core/limits.h", "replication/requests/limits.h", "replication/store/limits.h")  # whose constants the limits are made of
UNITS = {"KiB": 1024, "MiB": 1024 ** 2, "s": 1000, "min": 60_000}  # other words count single things


def text_of(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def constants(text, known):
    """The values of the constants in a header, by name."""
    found = {}
    for name, expression in re.findall(r"^inline constexpr [\w:]+ (k\w+) =\s+([^;]+);", text, flags=re.M):
        if re.fullmatch(r"[\w\s'*+/()-]+", expression):
            try:
                found[name] = eval(expression.replace("'", ""), {}, {**known, **found})
            except NameError:
                pass  # made of something that no bound of the front door needs
    return found


def documented(text):
    """The values in the tables: 10 s is 10000 for a bound in milliseconds, 10 for one in seconds."""
    found = {}
    for name, number, unit in re.findall(r"^\| `(k\w+)` \| ([\d,]+) ?(\w*)", text, flags=re.M):
        factor = UNITS.get(unit, 1)
        found[name] = int(number.replace(",", "")) * (1 if unit == "s" and name.endswith("S") else factor)
    return found


class SecurityDoc(unittest.TestCase):
    maxDiff = None

    def test_each_bound_stands_there_with_its_value(self):
        known = {}
        for path in USED:
            known.update(constants(text_of(path), known))
        bounds = {}
        for path in LIMITS:
            found = constants(text_of(path), known)
            self.assertEqual(len(found), len(re.findall(r"^inline constexpr", text_of(path), flags=re.M)))
            bounds.update(found)
        self.assertEqual(documented(text_of("docs/security.md")), bounds)

    def test_the_check(self):
        header = "inline constexpr int kA = 2 * 1'000;  // x\ninline constexpr std::size_t kB = kA + kC;\n"
        self.assertEqual(constants(header, {"kC": 1}), {"kA": 2000, "kB": 2001})
        self.assertEqual(documented("| `kAMs` | 2 s | x |\n| `kB` | 2,001 calls | x |\n| `kC` | 1 MiB of |\n"
                                    "| `kKeepAliveS` | 60 s | x |\n"),
                         {"kAMs": 2000, "kB": 2001, "kC": 1048576, "kKeepAliveS": 60})


if __name__ == "__main__":
    unittest.main()
