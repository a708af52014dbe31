"""Runs h2spec, the conformance test of HTTP/2, against an ingotd that it starts, and compares what does not pass with
answered_otherwise.txt, which says of each such case in one line why Ingot answers otherwise.

Exit code: 0 each case passes or is answered there, and nothing else stands there; 1 otherwise; 2 bad arguments; 77 if
h2spec cannot be had."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tests.daemon import ingot_daemon

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "answered_otherwise.txt")
CASE_TIMEOUT_S = 5  # in which the server must have shown a case's effect
NOT_HERE = 77       # as tests/summary.py understands it


class Case:
    """`outcome` is passed, skipped (h2spec could not make the case happen) or failed."""

    def __init__(self, name, title, outcome, detail):
        self.name, self.title, self.outcome, self.detail = name, title, outcome, detail


def cases_of(report):
    """The cases of a JUnit report: http2/5.1/3 is the third of section 5.1."""
    found = []
    for suite in xml.etree.ElementTree.parse(report).getroot():
        for number, each in enumerate(suite.iter("testcase"), 1):
            trouble = next((kind for kind in ("failure", "error", "skipped") if each.find(kind) is not None), None)
            outcome = {None: "passed", "skipped": "skipped"}.get(trouble, "failed")
            detail = "" if trouble is None else " ".join((each.find(trouble).text or "").split())
            found.append(Case(f"{suite.get('package')}/{number}", each.get("classname"), outcome, detail))
    return found


def answers_in(text):
    """The sentences by case. Empty lines and those that begin with # say nothing."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    answers = {}
    for line in lines:
        name, separator, sentence = line.partition(": ")
        if not separator or not sentence.strip() or name in answers:
            raise ValueError(f"answered_otherwise.txt: each line is CASE: SENTENCE, each case once, not {line!r}")
        answers[name] = sentence.strip()
    return answers


def differences(cases, answers):
    """Sentences for each case that is neither passed nor answered, and for each answer that no case needs."""
    open_cases = {case.name: case for case in cases if case.outcome != "passed"}
    for name, case in open_cases.items():
        if name not in answers:
            yield f"{name} ({case.title}) {case.outcome}: {case.detail or 'h2spec gives no reason'}"
    for name in answers:
        if name not in open_cases:
            yield f"{name} passes, or there is no such case; its line in answered_otherwise.txt must go"


def run(program, endpoint, timeout_s, sections):
    """The cases, once h2spec has run."""
    host, port = endpoint.rsplit(":", 1)
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        done = subprocess.run([program, "--strict", f"--host={host}", f"--port={port}", f"--timeout={timeout_s}",
                               f"--junit-report={report}", *sections], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if not os.path.exists(report):
            raise AssertionError(f"h2spec exited with {done.returncode} and no report:\n{done.stdout[-2000:]}")
        return cases_of(report)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/h2spec/run.sh", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingotd", metavar="PATH", help="another ingotd than the one that was built")
    parser.add_argument("--endpoint", metavar="HOST:PORT", help="a server that runs already, instead of an ingotd")
    parser.add_argument("--timeout", type=int, default=CASE_TIMEOUT_S, metavar="S", help="for one case (%(default)s)")
    parser.add_argument("--section", action="append", default=[], metavar="NAME", help="such as http2/6.5, with its "
                        "cases only; then answers of others are not looked at (all)")
    parser.add_argument("-o", "--output", choices=["table", "json"], default="table")
    parser.add_argument("--build", metavar="ROOT", help=argparse.SUPPRESS)  # run.sh: first build what is needed
    parser.error = lambda message: parser.exit(2, f"{parser.prog}: {message}; see --help\n")
    return parser.parse_args(arguments)


def built_program():
    """h2spec's path, or None with the reason on standard error."""
    done = subprocess.run([os.path.join(HERE, "build.sh")], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def prepare(flags):
    if flags.ingotd:
        ingot_daemon.INGOTD = os.path.abspath(flags.ingotd)
    elif flags.build and not flags.endpoint:
        if subprocess.run(["bazel", "build", "//services/ingotd"], cwd=flags.build, stdout=sys.stderr).returncode:
            sys.exit("tests/h2spec/run.sh: the build failed; see above")
        os.chdir(os.path.join(flags.build, "bazel-bin"))


def show(cases, answers, complaints, output):
    counts = {outcome: sum(case.outcome == outcome for case in cases) for outcome in ("passed", "skipped", "failed")}
    if output == "json":
        print(json.dumps({**counts, "answered_otherwise": len(answers), "differences": complaints}))
        return
    for case in cases:
        if case.name in answers and case.outcome != "passed":
            print(f"{case.name} {case.outcome}, answered: {answers[case.name]}")
    print("\n".join(complaints + [", ".join(f"{count} {outcome}" for outcome, count in counts.items()) +
                                  f"; {len(complaints)} differences from answered_otherwise.txt"]))


def main(arguments):
    flags = parse(arguments)
    program = built_program()
    if program is None:
        return NOT_HERE
    prepare(flags)
    with open(ANSWERS) as file:
        answers = answers_in(file.read())
    if flags.endpoint:
        cases = run(program, flags.endpoint, flags.timeout, flags.section)
    else:
        with ingot_daemon.Daemon() as daemon:
            cases = run(program, daemon.endpoint, flags.timeout, flags.section)
    ran = {case.name for case in cases}
    answers = answers if not flags.section else {name: text for name, text in answers.items() if name in ran}
    complaints = list(differences(cases, answers)) or ([] if cases else ["h2spec ran no case"])
    show(cases, answers, complaints, flags.output)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
