"""The summary of tests/run.sh: what passed, failed and was skipped, by name, and how long each part took.

tests/summary.py add RESULTS bazel PART SECONDS CODE OUTPUT TESTLOGS    the tests of one `bazel test`
tests/summary.py add RESULTS script PART SECONDS CODE OUTPUT            a script: exit code 77 is skipped
tests/summary.py show RESULTS    exits with 1 unless something passed and nothing failed

A test that leaves something out says so in its output: a line "SKIPPED: reason", or unittest's "... skipped 'reason'".
It is then skipped, not passed. One that repeats something because of a named error of the machine, such as a port that
another program took, says "RETRIED: reason"; the summary names it, too, and the seeds that tests have drawn (seeds.h).
"""

import json
import os
import re
import sys

SKIPPED_EXIT_CODE = 77
RESULT = re.compile(r"^(//\S+)\s+(?:\(cached\) )?(PASSED|FLAKY|FAILED|TIMEOUT|NO STATUS)")
SKIPS = (re.compile(r"^(?:\S+: )?SKIPPED: (.*)$", re.M), re.compile(r"\.\.\. skipped (['\"])(?P<reason>.*)\1$", re.M))
RETRIES = re.compile(r"^RETRIED: (.*)$", re.M)
SEEDS = re.compile(r"^(?:.*\.\.\. )?seed (\d+); again: ", re.M)


def skips_in(text):
    return [match.groupdict().get("reason") or match.group(1) for pattern in SKIPS for match in pattern.finditer(text)]


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def log_of(testlogs, label):
    return os.path.join(testlogs, *label.lstrip("/").split(":"), "test.log")


def bazel_results(code, output, testlogs):
    """One result for each target that Bazel names; one more if it failed and names none, as for a build that breaks."""
    found = {}
    for line in output.splitlines():
        match = RESULT.match(line)
        if match:
            found[match.group(1)] = match.group(2)
    results = []
    for label, outcome in found.items():
        log = read(log_of(testlogs, label))
        skips = skips_in(log)
        result = {"name": label, "result": "passed", "reasons": [], "retried": RETRIES.findall(log),
                  "seeds": SEEDS.findall(log)}
        if outcome != "PASSED":  # one that passed at a second try has failed once
            result.update(result="failed", reasons=[outcome.lower()])
        elif skips:
            result.update(result="skipped", reasons=skips)
        results.append(result)
    if code != 0 and not any(each["result"] == "failed" for each in results):
        results.append({"name": "bazel", "result": "failed", "reasons": [f"exit code {code}"], "retried": []})
    return results


def script_results(part, code, output):
    skips = skips_in(output)
    if code == 0:
        result = "skipped" if skips else "passed"
    else:
        result = "skipped" if code == SKIPPED_EXIT_CODE else "failed"
    reasons = [f"exit code {code}"] if result == "failed" else skips or ["it does not say why"]
    return [{"name": part, "result": result, "reasons": reasons if result != "passed" else [],
             "retried": RETRIES.findall(output)}]


def show(parts, write):
    """Writes the summary; returns the exit code."""
    def named(heading, lines):
        if lines:
            write(f"\n==> {heading}\n" + "".join(f"  {line}\n" for line in lines))

    def of(result):
        return [(part["part"], each) for part in parts for each in part["results"] if each["result"] == result]

    named("seeds that were drawn; INGOT_SEED=n repeats one",
          [f"{part['part']}: {each['name']}: {' '.join(each['seeds'])}" for part in parts for each in part["results"]
           if each.get("seeds")])
    write("\n==> time\n")
    for part in parts:
        write(f"  {part['seconds'] // 60:3d} min {part['seconds'] % 60:02d} s  {part['part']}\n")
    named("repeated after an error of the machine",
          [f"{part['part']}: {each['name']}: {reason}" for part in parts for each in part["results"]
           for reason in each["retried"]])
    for result in ("skipped", "failed"):
        named(result, [f"{part}: {each['name']}: {'; '.join(each['reasons'])}" for part, each in of(result)])
    passed, failed, skipped = (len(of(result)) for result in ("passed", "failed", "skipped"))
    write(f"\n{passed} passed, {failed} failed, {skipped} skipped\n")
    return 0 if failed == 0 and passed > 0 else 1


def add(results, kind, part, seconds, code, output, testlogs=""):
    text = read(output)
    found = bazel_results(int(code), text, testlogs) if kind == "bazel" else script_results(part, int(code), text)
    with open(results, "a") as file:
        print(json.dumps({"part": part, "seconds": int(seconds), "results": found}), file=file)


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if (arguments[:1], len(arguments)) not in ((["add"], 7), (["add"], 8), (["show"], 2)):
        print(f"summary.py: not {' '.join(arguments) or 'without arguments'}; see --help", file=sys.stderr)
        return 2
    if arguments[:1] == ["add"]:
        add(*arguments[1:])
        return 0
    return show([json.loads(line) for line in read(arguments[1]).splitlines()], sys.stdout.write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
