#!/usr/bin/env bash
# Installs missing packages, builds everything, runs every test of every language and every sanitizer build, and ends
# with one line: "N passed, N failed".
#
#   ./tests/run.sh            all of it
#   ./tests/run.sh --quick    the optimised build only, without sanitizers and the model
#   ./tests/run.sh --help
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

quick=0
for argument in "$@"; do
  case "$argument" in
    --quick) quick=1 ;;
    --help | -h) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown flag $argument; see --help" >&2; exit 2 ;;
  esac
done

./deploy/install.sh --tests || exit 1

passed=0
failed=0
failures=()
retried=()
note() { printf '\n==> %s\n' "$*"; }

# Runs the Bazel tests under a configuration and counts them. Arguments: label, Bazel flags..., --, targets...
bazel_tests() {
  local label=$1 log ok bad
  shift
  local flags=() targets=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do flags+=("$1"); shift; done
  shift
  targets=("$@")
  log=$(mktemp)
  note "$label: bazel test ${flags[*]} ${targets[*]}"
  bazel test --keep_going --test_summary=short --show_progress --show_progress_rate_limit=30 "${flags[@]}" -- "${targets[@]}" 2>&1 | tee "$log" | grep -vE '^(INFO|Loading|Analyzing|DEBUG)'
  local code=${PIPESTATUS[0]}
  ok=$(grep -cE '^//[^ ]+ +(\(cached\) )?(PASSED|FLAKY)' "$log")
  bad=$(grep -cE '^//[^ ]+ +(\(cached\) )?(FAILED|TIMEOUT|NO STATUS)' "$log")
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi  # a target that does not build is a failure, too
  passed=$((passed + ok))
  failed=$((failed + bad))
  while read -r line; do failures+=("$label: $line"); done < <(grep -E '^//[^ ]+ +(\(cached\) )?(FAILED|TIMEOUT|NO STATUS)' "$log")
  while read -r line; do retried+=("$label: $line"); done < <(grep -E '^//[^ ]+ +FLAKY' "$log")
  if [ "$code" -ne 0 ] && [ ${#failures[@]} -eq 0 ]; then failures+=("$label: the build failed"); fi
  rm -f "$log"
}

note "build: everything, optimised"
if ! bazel build --show_progress --show_progress_rate_limit=30 //...; then
  failed=$((failed + 1))
  failures+=("build: bazel build //...")
fi
bazel_tests "optimised" -- //...
if [ "$quick" -eq 0 ]; then
  bazel_tests "asan+ubsan" --config=asan --config=ubsan --test_tag_filters=-no-asan --build_tests_only -- //... -//bench/...
  # TSan is used where threads of Ingot meet without gRPC's; a state machine on one thread needs no TSan.
  bazel_tests "tsan" --config=tsan --test_tag_filters=-no-tsan --build_tests_only -- \
    //tests/transport:all //tests/transport/host/... //tests/transport/collectives:oversubscribed_test \
    //tests/transport/collectives:example_test //tests/transport/collectives:tree_barrier_test \
    //tests/transport/collectives:tree_collectives_test //tests/replication/stable:segment_test \
    //tests/replication/stable:death_test //tests/replication/stable:fuzz_test //tests/replication/stable:writer_lock_test \
    //tests/replication/replica/snapshots:loader_test //tests/services/process:death_watch_test \
    //tests/services/process:deferred_reaper_test
fi

if [ "$quick" -eq 0 ]; then
  note "model: tests/model/run.sh"
  if tests/model/run.sh; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("model: tests/model/run.sh")
  fi
fi

if [ ${#retried[@]} -gt 0 ]; then
  note "failed once, passed when tried again"
  printf '  %s\n' "${retried[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
  note "failures"
  printf '  %s\n' "${failures[@]}"
fi
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
