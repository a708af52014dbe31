"""What the documents name exists: links and their anchors, paths, build targets, flags, identifiers in code spans, and
functions in diagrams. Two tables follow from the code: agreement's messages, and which service is served where.

It reads the repository through the link to its root. What it cannot see: whether a sentence is true.
"""
import fnmatch
import functools
import os
import re
import unittest

ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))
CODE = (".h", ".hpp", ".cc", ".bazelrc", ".py", ".sh", ".bzl", ".bazel", ".proto", ".tla", ".cfg", ".lds", ".yml",
        ".go", ".txt", ".json", ".service")
# Names of other projects, which are in no source here.
FOREIGN = {"nlohmann_json"}
PATH = r"\.?[A-Za-z_][\w.@-]*(/[\w.@*-]+)+/?|[\w-]+\.(h|cc|py|sh|proto|tla|bazel|md|txt|yml|service)"
# A class and what stands in it; it ends at a brace in its first line's column. One may stand in another.
CLASS = r"(?ms)^(?=( *)(?:class|struct) (?:\w+::)?(\w+)\b[^;{}()]*\{$(.*?)^\1\};)"
# History: its names need not exist any more.
HISTORY = {"CHANGELOG.md"}


def documents():
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "bazel-")) and f != "third_party"]
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files if f.endswith(".md")]
    return sorted(found)


@functools.lru_cache(maxsize=None)
def tree():
    """All files of the repository, and all folders."""
    files, folders = set(), set()
    for folder, below, names in os.walk(ROOT):
        below[:] = [f for f in below if f != ".git" and not f.startswith("bazel-")]
        folders.add(os.path.relpath(folder, ROOT))
        files |= {os.path.relpath(os.path.join(folder, n), ROOT) for n in names}
    return files, folders


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def words():
    """Every word in a source file."""
    found = set()
    for path in tree()[0]:
        if path.endswith(CODE):
            found |= set(re.findall(r"\w+", text_of(path)))
    # The metrics of a page are its counters behind a prefix.
    return found | {f"ingot_{word}" for word in found}


@functools.lru_cache(maxsize=None)
def targets():
    """(package, name) of every rule with a name of its own."""
    found = set()
    for path in tree()[0]:
        if os.path.basename(path) == "BUILD.bazel":
            package = os.path.dirname(path)
            text = text_of(path)
            found |= {(package, name) for name in re.findall(r'name = "([^"]+)"', text)}
            for listed in re.findall(r"for \w+ in \[([^\]]*)\]\s*\]", text):  # rules that are made from a list of names
                found |= {(package, name) for name in re.findall(r'"([^"]+)"', listed)}
    return found


def without_blocks(text):
    """The text without fenced and indented blocks: prose with its code spans."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return "\n".join("" if line.startswith("    ") else line for line in text.split("\n"))


def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_blocks(text), flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        while slug in found:
            slug += "-1"
        found.add(slug)
    return found


def broken_links(document, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        if not os.path.exists(os.path.join(ROOT, goal)):
            yield f"no such file: {target}"
        elif anchor and anchor not in anchors(text if goal == document else text_of(goal)):
            yield f"no such heading: {target}"


def spans(text):
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", without_blocks(text))]


@functools.lru_cache(maxsize=None)
def places():
    """Every file and folder by all ends of its path, files without their extension, too, and every build target."""
    files, folders = tree()
    paths = files | folders | {os.path.splitext(file)[0] for file in files} | {f"{p}/{name}" for p, name in targets()}
    found = set()
    for path in paths:
        parts = path.split("/")
        found |= {"/".join(parts[i:]) for i in range(len(parts))}
    return found


def is_there(path, document):
    """A path from the root or from the document's folder, or the end of one."""
    path = path.removeprefix("./").rstrip("/")
    if "*" in path:
        return bool(fnmatch.filter(places(), path))
    return path in places() or os.path.normpath(os.path.join(os.path.dirname(document), path)) in places()


def broken_paths(document, text):
    for span in spans(text):
        if re.fullmatch(PATH, span):
            if not span.startswith(("/", "bazel-bin/", "//")) and not is_there(span, document):
                yield f"no such path: `{span}`"
    for path in re.findall(r"(?<![\w/])bazel-bin/([\w./-]*\w)", text):
        package, _, name = path.rpartition("/")
        if (package, name) not in targets():
            yield f"nothing builds bazel-bin/{path}"
    for package, name in re.findall(r"(?<![\w:/])//([\w/.-]*\w)(?::([\w.-]*\w))?(?=[\s`,;)]|$)", text):
        if not package.endswith("...") and name != "all":
            if (package, name or package.rpartition("/")[2]) not in targets() and "." not in package.split("/")[0]:
                yield f"no such target: //{package}" + (f":{name}" if name else "")


def broken_identifiers(text):
    for span in spans(text):
        name = re.sub(r"\(.*\)$", "", span)
        parts = re.split(r"::|\.", name)
        named = re.fullmatch(r"k[A-Z]\w+|[A-Za-z]\w*(::\w+)+|([A-Z][a-z0-9]+){2,}|[a-z]+(_[a-z0-9]+)+", name)
        if named and name not in FOREIGN:
            missing = [part for part in parts if part not in words()]
            if missing and not is_there(name, ""):
                yield f"no such identifier: `{span}`"


@functools.lru_cache(maxsize=None)
def flags():
    found = {"--help", "--version", "--config"}  # the command-line library's own, and Bazel's
    for path in tree()[0]:
        if path.endswith(CODE):
            found |= set(re.findall(r"--[a-z][a-z_-]*[a-z]", text_of(path)))
    return found


def unknown_flags(text):
    for span in spans(text):
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z_-]*[a-z]", span):
            if flag not in flags():
                yield f"no such flag: `{flag}`"


@functools.lru_cache(maxsize=None)
def rules_in_sources():
    """(rule, function) of each place that keeps a named rule (core/rule.h)."""
    found = set()
    for path in tree()[0]:
        if not path.endswith((".h", ".cc")) or path == "core/rule.h":
            continue
        for line in text_of(path).splitlines():
            if head := re.match(r"(?=[A-Za-z]).*?([A-Za-z_]\w*(?:::\w+)*)\(", line):
                function = head[1]
            for rule in re.findall(r'INGOT_RULE\("([^"]*)"\)|left_out [!=]= "([^"]*)"', line):
                found.add(("".join(rule), function))
    return found


def rules_in_table(text):
    """The same, of the table of mutants."""
    found = set()
    for rule, places in re.findall(r"^\| ([a-z-]+) \| ([\w:, ]+) \|", text, flags=re.M):
        found |= {(rule, place) for place in places.split(", ") if "::" in place}
    return found


@functools.lru_cache(maxsize=None)
def functions():
    """(class or namespace, function) of every function that stands in a source; the first is "" for all of them. A
    class has what is declared or called between its braces, and what is defined or called by its name.
    """
    found = set()
    for path in tree()[0]:
        if path.endswith((".h", ".cc")):
            text = text_of(path)
            found |= {("", name) for name in re.findall(r"([A-Za-z_]\w*)\(", text)}
            for _, scope, body in re.findall(CLASS, text):
                found |= {(scope, name) for name in re.findall(r"([A-Za-z_]\w*)\(", body)}
            found |= set(re.findall(r"\b(\w+)::(~?\w+)\(", text))
    return found


def unknown_functions(text):
    """Of the diagrams: `Class::function`, or `function()`."""
    for diagram in re.findall(r"^```mermaid\n(.*?)^```", text, flags=re.M | re.S):
        named = set(re.findall(r"\b(\w+)::(\w+)", diagram))
        named |= {("", name) for name in re.findall(r"(?<![:\w])(\w+)\(\)", diagram)}
        yield from (f"no such function: {scope}::{name}" for scope, name in sorted(named - functions()))


def messages_in_sources():
    """(message, protocol) of each message that a protocol handles."""
    listed = re.findall(r'case MessageType::(\w+):\s+return "(\w+)";', text_of("replication/agreement/messages.cc"))
    folders = {"1Paxos": "one_paxos", "Multi-Paxos": "multi_paxos", "2PC": "two_phase_commit"}
    found = set()
    for protocol, folder in folders.items():
        paths = fnmatch.filter(tree()[0], f"replication/agreement/{folder}/*.cc")
        handled = {name for path in paths for name in re.findall(r"case MessageType::(\w+):", text_of(path))}
        found |= {(message, protocol) for name, message in listed if name in handled}
    return found


def messages_in_table(text):
    protocols = {"all": ("1Paxos", "Multi-Paxos", "2PC")}
    rows = re.findall(r"^\| (\w+) \| (all|[\w, -]*Paxos|2PC) \|", text, flags=re.M)
    return {(message, protocol) for message, named in rows for protocol in protocols.get(named, named.split(", "))}


def services_in_sources():
    """(service, who serves it) of each service whose methods the table of rights lists. The loops serve what is added
    to them by its path, or by that of its service (services/etcd/unary.h), and pass all other calls on to gRPC C++.
    """
    listed = set(re.findall(r'"/[\w.]+\.(\w+)/\w+"', text_of("services/access/method_access.cc")))
    paths = [p for p in tree()[0] if p.startswith("services/") and p.endswith(".cc")]
    added = r'(?:\badd\(|\bUnaryMethods \w+\(methods, |\bkPath = )"/[\w.]+\.(\w+)/'
    loops = {name for p in paths for name in re.findall(added, text_of(p))}
    return {(name, "the loops" if name in loops else "gRPC C++") for name in listed}


def services_in_table(text):
    rows = re.findall(r"^\| ([\w, ]+) \| (the loops|gRPC C\+\+)", text, flags=re.M)
    return {(name, by) for names, by in rows for name in names.split(", ")}


def services_in_protos():
    found = set()
    for path in tree()[0]:
        if path.startswith("proto/") and path.endswith(".proto"):
            found |= set(re.findall(r"^service (\w+)", text_of(path), flags=re.M))
    return found


class Documents(unittest.TestCase):
    def complaints(self, check):
        found = [f"{path}: {complaint}" for path in documents() for complaint in check(path, text_of(path))]
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_every_relative_link_leads_to_a_file_and_a_heading(self):
        self.complaints(broken_links)

    def test_every_path_and_target_exists(self):
        self.complaints(lambda document, text: () if document in HISTORY else broken_paths(document, text))

    def test_every_identifier_stands_in_the_code(self):
        self.complaints(lambda document, text: () if document in HISTORY else broken_identifiers(text))

    def test_the_table_of_mutants_has_each_rule_and_its_places(self):
        self.assertEqual(rules_in_sources(), rules_in_table(text_of("docs/simulation.md")))

    def test_every_function_in_a_diagram_stands_in_the_code(self):
        self.complaints(lambda document, text: unknown_functions(text))

    def test_the_table_of_messages_has_each_one_and_its_protocols(self):
        self.assertEqual(messages_in_sources(), messages_in_table(text_of("docs/ways.md")))

    def test_the_table_of_services_says_who_serves_them(self):
        services = services_in_sources()
        self.assertEqual(services, services_in_table(text_of("docs/architecture.md")))
        self.assertLessEqual(services_in_protos(), {name for name, _ in services})

    def test_every_flag_stands_in_the_code(self):
        self.complaints(lambda document, text: () if document in HISTORY else unknown_flags(text))


class TheChecks(unittest.TestCase):
    """Each check finds the errors, and only these."""

    def test_links(self):
        good = "# A `b` c?\n[one](docs/terms.md#agreement) [two](#a-b-c) [three](https://example.org/x)\n"
        self.assertEqual(list(broken_links("README.md", good)), [])
        self.assertEqual(len(list(broken_links("README.md", "[x](docs/no.md) [y](docs/terms.md#no)"))), 2)

    def test_paths(self):
        good = "`core/types.h` `types.h` `//core:core` `deploy/run.sh` bazel-bin/services/ingotd/ingotd\n"
        self.assertEqual(list(broken_paths("README.md", good)), [])
        bad = "`core/no.h` `no.h` //core:no bazel-bin/services/ingotd/no\n"
        self.assertEqual(len(list(broken_paths("README.md", bad))), 4)

    def test_identifiers(self):
        self.assertEqual(list(broken_identifiers("`EndpointId` `kTickMs` `Agreement::peer_died` `a b` `etcd`")), [])
        # Put together here, or this file would hold the words.
        bad = f"`{'kNo' + 'where'}` `{'No' + 'Where'}` `Agreement::{'lost_' + 'peer'}`"
        self.assertEqual(len(list(broken_identifiers(bad))), 3)

    def test_functions(self):
        good = "```mermaid\nA->>B: Agreement::propose, attach()\n```\n"
        self.assertEqual(list(unknown_functions(good)), [])
        bad = f"```mermaid\nA->>B: Agreement::{'prop' + 'found'}, {'att' + 'empt_nothing'}()\n```\n"
        self.assertEqual(len(list(unknown_functions(bad))), 2)
        bad = "```mermaid\nA->>B: StandingEvents::validate\n```\n"  # its file calls that, and the class does not
        self.assertEqual(len(list(unknown_functions(bad))), 1)

    def test_flags(self):
        self.assertEqual(list(unknown_flags("`--replicas=3` `bazel test --config=asan`")), [])
        self.assertEqual(len(list(unknown_flags(f"`--{'rep' + 'licants'}`"))), 1)


if __name__ == "__main__":
    unittest.main()
