"""How often each test fails whose outcome is a matter of chance: it draws seeds, times or kills (tags: defs.bzl).

    tests/stress.py --stress=N [--only=LABELS] [-- BAZEL FLAGS...]      as tests/run.sh --stress=N

Each test is run N times, half of them with all cores busy beside it, as many tests at once as in the suite. Ends with
a table: the failure rate of each, greatest first; what failed is named with its seeds and its log, which is kept.
Exits with 1 if anything failed or did not run.

    --only=LABELS    these tests of Bazel's, whatever their tags, instead of all that are tagged
"""

import collections
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import summary

TAGGED = r'attr(tags, "\b(seeds|timing)\b", tests(//...))'
# Keeps a core busy until its parent, whose pid is its argument, has ended, however that ends.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"

# One run of a test. `half` says what ran beside it.
Run = collections.namedtuple("Run", "label half number status seconds log")


def refuse(sentence):
    print(f"stress.py: {sentence}; see --help", file=sys.stderr)
    sys.exit(2)


def parse(arguments):
    """(runs of each test, labels or None, Bazel's flags)."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own, flags = arguments[:end], arguments[end + 1:]
    runs, only = 0, None
    for argument in own:
        name, _, value = argument.partition("=")
        if name == "--stress" and value.isdigit() and int(value) > 0:
            runs = int(value)
        elif name == "--stress":
            refuse(f"{argument}: give how often each test is to run, as in --stress=20")
        elif name == "--only" and value:
            only = value.replace(",", " ").split()
        else:
            refuse(f"unknown flag {argument}")
    if runs == 0:
        refuse("how often? give --stress=N")
    return runs, only, flags


def tests_in(only):
    query = TAGGED if only is None else f"tests(set({' '.join(only)}))"
    found = subprocess.run(["bazel", "query", "--noshow_progress", query], stdout=subprocess.PIPE, text=True)
    return found.stdout.split() if found.returncode == 0 else []


@contextlib.contextmanager
def busy_cores(number):
    loops = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def runs_in(events, half):
    """The runs that Bazel's event file (--build_event_json_file) tells of."""
    for line in events.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the last line, if Bazel was ended
        key, told = event.get("id", {}).get("testResult"), event.get("testResult")
        if key is None or told is None:
            continue
        logs = [each.get("uri", "") for each in told.get("testActionOutput", []) if each["name"] == "test.log"]
        log = urllib.parse.unquote(urllib.parse.urlparse(logs[0]).path) if logs else ""
        yield Run(key["label"], half, key.get("run", 1), told.get("status", "NO_STATUS"),
                  int(told.get("testAttemptDurationMillis", 0)) / 1000, log)


def run_half(half, runs, tests, flags):
    """Runs every test `runs` times. Returns what each run has come to, and whether it was ended by Ctrl-C."""
    if runs == 0:
        return [], False
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events")
        bazel = subprocess.Popen([
            "bazel", "test", "--keep_going", f"--runs_per_test={runs}", "--nocache_test_results",
            "--test_output=summary", "--test_summary=none", "--show_progress", "--show_progress_rate_limit=30",
            f"--build_event_json_file={events}", *flags, "--", *tests])
        ended = False
        try:
            bazel.wait()
        except KeyboardInterrupt:  # Bazel has got it, too
            ended = True
            bazel.wait()
        return list(runs_in(summary.read(events), half)), ended


def keep_logs(runs, folder):
    """The same runs; the logs of those that failed are copied, since the next half writes over them."""
    kept = []
    for run in runs:
        if run.status != "PASSED" and os.path.exists(run.log):
            os.makedirs(folder, exist_ok=True)
            name = f"{run.label.lstrip('/').replace('/', '.').replace(':', '.')}.{run.half}.{run.number}.log"
            run = run._replace(log=shutil.copy(run.log, os.path.join(folder, name)))
        kept.append(run)
    return kept


def describe_failure(run):
    seeds = "".join(f", seed {seed}" for seed in summary.SEEDS.findall(summary.read(run.log)))
    return f"{run.half}, run {run.number}: {run.status.lower()}{seeds}{', ' if run.log else ''}{run.log}"


def show(tests, halves, write):
    """Writes the table of all tests. `halves` are (name, runs of each test, what they have come to). True: every test
    ran as often as it should, and none failed."""
    by_test = {test: [run for _, _, runs in halves for run in runs if run.label == test] for test in tests}
    failed = {test: [run for run in runs if run.status != "PASSED"] for test, runs in by_test.items()}
    rate = {test: len(failed[test]) / len(runs) if runs else 1 for test, runs in by_test.items()}
    write("\n==> failure rates\n")
    write("    rate" + "".join(f"{name:>14}" for name, _, _ in halves) + "     longest  test\n")
    for test in sorted(tests, key=lambda test: (-rate[test], test)):
        counts = ""
        for name, _, _ in halves:
            among = [sum(run.half == name for run in runs) for runs in (failed[test], by_test[test])]
            counts += "{:>14}".format("{} of {}".format(*among))
        longest = max([run.seconds for run in by_test[test]], default=0)
        skips = {skip for run in by_test[test] for skip in summary.skips_in(summary.read(run.log))}
        write(f"{100 * rate[test]:6.1f} %{counts}  {longest:8.1f} s  {test}"
              f"{''.join(f'; skipped: {skip}' for skip in sorted(skips))}\n")
        for run in failed[test]:
            write(f"          {describe_failure(run)}\n")
    wanted = sum(each for _, each, _ in halves)
    short = [test for test in tests if len(by_test[test]) < wanted]
    write(f"\n{len(tests)} tests, {sum(map(len, by_test.values()))} runs; failed: "
          f"{sum(map(bool, failed.values()))} tests, {sum(map(len, failed.values()))} runs\n")
    if short:
        write(f"ran less than {wanted} times: {' '.join(short)}\n")
    return not short and not any(failed.values())


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    runs, only, flags = parse(arguments)
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
    tests = tests_in(only)
    if not tests:
        print("stress.py: there is no such test", file=sys.stderr)
        return 1
    print(f"==> {len(tests)} tests, {runs} runs of each", flush=True)
    if subprocess.run(["bazel", "build", "--show_progress", "--show_progress_rate_limit=30", *flags, "--",
                       *tests]).returncode != 0:
        return 1
    cores = len(os.sched_getaffinity(0))
    folder = tempfile.mkdtemp(prefix="ingot-stress-")
    halves, ended = [], False
    for half, own, busy in (("alone", runs // 2, 0), ("loaded", runs - runs // 2, cores)):
        found = []
        if not ended:
            print(f"\n==> {half}: {own} runs of each{f', beside {busy} busy loops' if busy else ''}", flush=True)
            with busy_cores(busy if own else 0):
                found, ended = run_half(half, own, tests, flags)
        halves.append((half, own, keep_logs(found, folder)))
    if not os.listdir(folder):
        os.rmdir(folder)
    return 0 if show(tests, halves, sys.stdout.write) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
