"""Reads scenario.txt. A step is the line "step NAME" and indented lines below it:

    call METHOD REQUEST        one call; the request in JSON, bytes as text
    parallel METHOD REQUEST    so many calls at once, on one channel (count)
    deadline METHOD REQUEST    opens a call and sends no request, until its deadline (deadline_ms)
    headers METHOD REQUEST     the code, and the names of the headers and trailers, as the client shows them
    cancel METHOD REQUEST      opens a call and sends no request, then cancels it
    keepalive METHOD REQUEST   opens a call and sends the request later (wait_ms), on a channel that pings every 10 s
    watch METHOD REQUEST       a put; answers with what a watch of its key, opened before, tells of it
    until METHOD REQUEST       calls in loops until the runner ends it: the server leaves meanwhile
    reflect WORDS              asks the server's reflection (grpcurl alone)
    path /SERVICE/METHOD       under which the request goes, if it is another than its method's
    gzip, deadline_ms N, wait_ms N, count N, metadata NAME VALUE
    etcdctl WORDS              the same for etcdctl; without it etcdctl leaves the step out. input TEXT is its input
    only CLIENT ...            all others leave it out; etcdctl-url is an etcdctl, and etcd-client-3.4 an etcd-client
    answer CODE TEXT           what is expected: a code and a text, or OK and a message; * is any text
    answer@NAME CODE TEXT      the same for a client or a server (etcd) of that name; answer@A,B for both

In a request "@N" is a revision (N after the newest before the scenario) and "*N" a value of N bytes."""

import base64
import json
import re

KINDS = ("call", "headers", "parallel", "deadline", "cancel", "keepalive", "watch", "until")
FAMILIES = ("etcd-client", "etcdctl")
NUMBERS = {"deadline_ms": "DeadlineMs", "wait_ms": "WaitMs", "count": "Count"}
BYTES = ("key", "value", "range_end")
FILL = "x"


class Step:
    """`fields` are what players get; the request is still in the scenario's form."""

    def __init__(self, name):
        self.name, self.answers, self.only = name, [], None
        self.etcdctl, self.input = None, ""
        self.fields = {"Step": name}

    @property
    def kind(self):
        return self.fields["Do"]

    def expected(self, *names):
        """(code, text) for a client on a server: that of the most names."""
        fitting = [answer for answer in self.answers if answer[0] <= set(names).union(*map(families, names))]
        return max(fitting, key=lambda answer: len(answer[0]))[1:]

    def is_for(self, client):
        return self.only is None or not {client, *families(client)}.isdisjoint(self.only)

    def compiled(self, base):
        """The fields with the request as protocol buffers' JSON."""
        made = dict(self.fields)
        if "Request" in made:
            made["Request"] = in_wire_form(made["Request"], base)
        return made

    def command(self, base):
        return absolute(self.etcdctl, base)


def families(name):
    return [family for family in FAMILIES if name.startswith(family + "-")]


def absolute(text, base):
    return re.sub(r"@(\d+)", lambda found: str(base + int(found[1])), text)


def in_wire_form(value, base, name=None):
    if isinstance(value, dict):
        return {key: in_wire_form(each, base, key) for key, each in value.items()}
    if isinstance(value, list):
        return [in_wire_form(each, base, name) for each in value]
    if isinstance(value, str) and name in BYTES:
        filled = FILL * int(value[1:]) if re.fullmatch(r"\*\d+", value) else value
        return base64.b64encode(filled.encode()).decode()
    return absolute(value, base) if isinstance(value, str) else value


def add_line(step, word, rest):
    if word in KINDS:
        method, _, request = rest.partition(" ")
        step.fields.update(Do=word, Method=method, Request=json.loads(request))
        step.fields.setdefault("Path", f"/{method}")
    elif word == "reflect":
        step.fields.update(Do=word, Words=rest.split())
    elif word == "path":
        step.fields["Path"] = rest
    elif word == "gzip" and not rest:
        step.fields["Gzip"] = True
    elif word in NUMBERS:
        step.fields[NUMBERS[word]] = int(rest)
    elif word == "metadata":
        name, _, value = rest.partition(" ")
        step.fields.setdefault("Metadata", {})[name] = json.loads(f'"{value}"')
    elif word == "etcdctl":
        step.etcdctl = rest
    elif word == "input":
        step.input = rest.replace("\\n", "\n")
    elif word == "only":
        step.only = rest.split()
    elif re.fullmatch(r"answer(@[\w,-]+)?", word):
        code, _, text = rest.partition(" ")
        step.answers.append((set(word[len("answer@"):].split(",")) - {""}, code, text))
    else:
        raise ValueError(f"{word} is no word of a step")


def parse(text):
    """The steps in order. Raises ValueError with the line of an error."""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            continue
        try:
            if not line.startswith(" "):
                if word != "step" or not re.fullmatch(r"[\w-]+", rest) or rest in [step.name for step in steps]:
                    raise ValueError(f"a line \"step NAME\", each name once, is expected, not {line!r}")
                steps.append(Step(rest))
            elif not steps:
                raise ValueError("it stands before the first step")
            else:
                add_line(steps[-1], word, rest)
        except ValueError as error:
            raise ValueError(f"scenario.txt:{number}: {error}") from None
    for step in steps:
        if "Do" not in step.fields or not any(not names for names, _, _ in step.answers):
            raise ValueError(f"scenario.txt: step {step.name} needs what to do, and an answer for all")
    return steps
