"""The commands that etcd and Ingot must answer alike: etcdctl's arguments and standard input.

A step is a list of words, or a pair of such a list and the text for standard input. They run in order, on one store.
"""

PUTS = [["put", key, value] for key, value in [
    ("fruit/apple", "red"), ("fruit/banana", "yellow"), ("fruit/cherry", "red"), ("fruit/date", "brown"),
    ("fruit", "no slash"), ("fruits", "too long"), ("stone", "grey"), ("zebra", "striped"), ("a", ""),
]]

FIRST_UPDATES = [
    ["put", "fruit/banana", "green"],                       # version 2
    ["put", "fruit/banana", "brown", "--prev-kv"],
    ["put", "fruit/date", "dark", "-w", "json", "--prev-kv"],
    ["put", "stone", "black", "-w", "fields", "--prev-kv"],
    ["put", "-w", "json", "new", "value"],
    ["put", "stone", "--ignore-lease", "white"],
    ["put", "stone", "--ignore-value"],
    (["put", "from-stdin"], "a value\nof two lines"),
    ["put", "uni\u00e7\u00f8de \u2713", "\u4e16\u754c"],
    ["put", "--", "-dash", "-value"],
]

READS = [
    ["get", "stone"],
    ["get", "nothing"],
    ["get", "nothing", "-w", "json"],
    ["get", "stone", "-w", "json"],
    ["get", "stone", "-w", "fields"],
    ["get", "stone", "-w", "simple"],
    ["get", "stone", "--print-value-only"],
    ["get", "stone", "--keys-only"],
    ["get", "stone", "--hex"],
    ["get", "a", "-w", "json"],
    ["get", "uni\u00e7\u00f8de \u2713"],
    ["get", "--", "-dash"],
    ["get", "--prefix", "fruit/"],
    ["get", "--prefix", "fruit"],
    ["get", "--prefix", ""],
    ["get", "--prefix", "", "-w", "json"],
    ["get", "--prefix", "fruit", "-w", "fields"],
    ["get", "--prefix", "nothing"],
    ["get", "--prefix", "fruit", "--keys-only"],
    ["get", "--prefix", "fruit", "--print-value-only"],
    ["get", "--prefix", "fruit", "--count-only", "-w", "fields"],
    ["get", "--prefix", "fruit", "--count-only", "-w", "json"],
    ["get", "--prefix", "fruit", "--keys-only", "-w", "json"],
    ["get", "fruit/apple", "fruit/date"],
    ["get", "fruit/date", "fruit/apple"],                   # an empty range
    ["get", "--from-key", "fruit/cherry"],
    ["get", "--from-key", ""],
    ["get", "--from-key", "zz"],
    ["get", "--from-key", "fruit/cherry", "--limit", "2"],
    ["get", "--prefix", "fruit", "--limit", "2", "-w", "json"],    # more
    ["get", "--prefix", "fruit", "--limit", "6", "-w", "json"],    # all of them: no more
    ["get", "--prefix", "fruit", "--limit", "99", "-w", "json"],
    ["get", "stone", "--consistency", "l"],
    ["get", "stone", "--rev", "2", "-w", "json"],           # before it existed
]

SORTS = [["get", "--prefix", "fruit", "--order", order, "--sort-by", by, "-w", "json"] + limit
         for order in ["ASCEND", "DESCEND"]
         for by in ["KEY", "VERSION", "CREATE", "MODIFY", "VALUE"]
         for limit in [[], ["--limit", "3"]]]

REVISIONS = [["get", "--prefix", "", "--rev", str(revision), "-w", "json"] for revision in range(1, 16)]

DELETES = [
    ["del", "nothing"],
    ["del", "nothing", "-w", "json"],
    ["del", "a"],
    ["del", "a"],
    ["get", "a", "-w", "json"],
    ["put", "a", "again"],
    ["get", "a", "-w", "fields"],                           # version 1, a new create revision
    ["del", "zebra", "--prev-kv"],
    ["del", "new", "--prev-kv", "-w", "json"],
    ["del", "from-stdin", "--prev-kv", "-w", "fields"],
    ["del", "fruit/apple", "fruit/cherry", "--prev-kv"],
    ["del", "fruit/date", "fruit/apple"],
    ["del", "--prefix", "fruit/", "--prev-kv", "-w", "json"],
    ["put", "x1", "1"], ["put", "x2", "2"], ["put", "y", "3"],
    ["del", "--from-key", "x2", "-w", "json"],
    ["get", "--prefix", "", "-w", "json"],
]

TXNS = [
    (["txn"], 'value("stone") = "white"\n\nput stone black\nget stone\n\nput stone never\n\n'),
    (["txn"], 'value("stone") = "white"\n\nput stone never\n\nget stone\ndel stone\n\n'),
    (["txn", "-w", "json"], 'version("t") = "0"\n\nput t 1\nget t\n\nget t\n\n'),
    (["txn", "-w", "json"], 'version("t") = "0"\n\nput t 1\n\nget t\ndel t --prev-kv\nget t\n\n'),
    (["txn", "-w", "json"], 'create("t") = "0"\nmod("t") < "1"\nversion("t") != "7"\n\nput t 2\nput u 3\n\n\n'),
    (["txn", "-w", "fields"], 'mod("t") > "1"\n\nget t --rev=2\nget --prefix ""\n\n\n'),
    (["txn", "-w", "json"], 'value("missing") = ""\n\nget t\n\nget u\n\n'),
    (["txn", "-w", "json"], 'value("t") > "1"\nvalue("u") < "4"\n\nget t\n\nget u\n\n'),
    (["txn", "-w", "json"], '\nput v 1\nput w 2\n\n\n'),
    (["txn", "-w", "json"], '\n\n\n'),
    (["txn", "-w", "json"], '\ndel --prefix v\nput vv 1\nget --prefix v\n\n\n'),
    (["txn", "-w", "json"], '\nget nothing\n\n\n'),
    (["txn", "-w", "json"], '\ndel nothing\n\n\n'),
]

ERRORS = [
    ["get", ""],
    ["put", "", "value"],
    ["del", ""],
    ["get", "stone", "--rev", "100000"],
    ["put", "missing", "--ignore-value"],
    ["put", "missing", "value", "--ignore-lease"],
    ["put", "stone", "value", "--lease", "1234"],
    (["txn"], "\nput d 1\nput d 2\n\n\n"),
    (["txn"], "\nput d 1\ndel d\n\n\n"),
    (["txn"], "\nput d1 1\ndel --prefix d\n\n\n"),
    (["txn"], "\n" + "".join(f"put many{i} x\n" for i in range(128)) + "\n\n"),
    (["txn"], "\n" + "".join(f"put many{i} x\n" for i in range(129)) + "\n\n"),
    (["txn"], "\nput \"\" 1\n\n\n"),
    (["txn"], "\nget stone --rev=100000\n\n\n"),
    (["txn"], "\nput written 1\nget stone --rev=100000\n\n\n"),
    ["get", "written"],                                     # not written, since the transaction failed
    (["put", "large"], "x" * (1024 * 1024)),
    ["get", "large"],
    (["put", "larger"], "x" * (1536 * 1024 + 1)),
    ["get", "larger"],
    ["del", "large"],
]

COMPACTIONS = [
    ["compaction", "5"],
    ["compaction", "5"],
    ["compaction", "4"],
    ["compaction", "100000"],
    ["get", "--prefix", "", "--rev", "4", "-w", "json"],
    ["get", "--prefix", "", "--rev", "5", "-w", "json"],
    ["get", "--prefix", "", "--rev", "6", "-w", "json"],
    (["txn"], "\nget stone --rev=4\n\n\n"),
    (["txn"], "\nput written 1\nget stone --rev=4\n\n\n"),
    ["compaction", "12", "--physical"],
    ["get", "--prefix", "", "--rev", "11"],
    ["get", "--prefix", "", "--rev", "12", "-w", "json"],
    ["get", "--prefix", "", "-w", "json"],
]

LEASES = [
    ["lease", "list"],
    ["lease", "list", "-w", "json"],
    ["lease", "grant", "9000000001"],
    ["lease", "revoke", "1234"],
    ["lease", "timetolive", "1234"],
    ["lease", "timetolive", "1234", "--keys", "-w", "json"],
    ["lease", "keep-alive", "1234", "--once"],
    ["put", "leased", "value", "--lease", "1234"],
    (["txn"], "\nput leased value --lease=1234\n\n\n"),
]

LONG_RANGES = [(["put", f"long/{i}"], f"{i} " * (100 * 1024 // len(f"{i} "))) for i in range(40)] + [  # some four pages
    ["get", "--prefix", "long/"],
    ["get", "--prefix", "long/", "-w", "json", "--limit", "33"],
    ["get", "--prefix", "long/", "-w", "json", "--order", "DESCEND", "--sort-by", "VALUE"],
    ["get", "--prefix", "long/", "-w", "json", "--keys-only", "--consistency", "l"],
]

AROUND = [
    ["endpoint", "health"],
    ["endpoint", "status"],
    ["endpoint", "status", "-w", "json"],
    ["endpoint", "status", "-w", "fields"],
    ["endpoint", "hashkv", "-w", "json"],
    ["alarm", "list"],
    ["alarm", "disarm"],
]

GROUPS = {
    "puts": PUTS,
    "first updates": FIRST_UPDATES,
    "reads": READS,
    "sorts": SORTS,
    "old revisions": REVISIONS,
    "deletes": DELETES,
    "transactions": TXNS,
    "errors": ERRORS,
    "compactions": COMPACTIONS,
    "leases": LEASES,
    "long ranges": LONG_RANGES,
    "around the store": AROUND,
}


def steps():
    """Yields (group, words, standard input)."""
    for group, listed in GROUPS.items():
        for step in listed:
            yield (group, *step) if isinstance(step, tuple) else (group, step, "")
