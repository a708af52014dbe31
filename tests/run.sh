#!/usr/bin/env bash
# Installs missing packages, builds everything, runs every test of every language, the sanitizer builds, the model and
# the fuzz targets, and ends with one line: "N passed, N failed, N skipped".
#
#   ./tests/run.sh            all of it
#   ./tests/run.sh --quick    the optimised build only, without sanitizers, fuzzing and the model
#   ./tests/run.sh --stress=N [--only=LABELS] [-- BAZEL FLAGS...]
#                             instead: each test that draws seeds, times or kills N times, half of them with all cores
#                             busy beside it, and the failure rate of each (tests/stress.py --help)
#   ./tests/run.sh --help
#
# Tests draw new seeds in each run; what fails prints the command that runs it again.
set -uo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/.." || exit 1

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }

quick=0
stress=0
for argument in "$@"; do
  case "$argument" in
    --quick) quick=1 ;;
    --stress=* | --only=*) stress=1; break ;;
    --help | -h) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown flag $argument; see --help" >&2; exit 2 ;;
  esac
done

./deploy/install.sh --tests || exit 1
[ "$stress" -eq 0 ] || exec python3 -B tests/stress.py "$@"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
note() { printf '\n==> %s\n' "$*"; }

# Adds what a part did to the summary. Arguments: kind (bazel or script), part, seconds, exit code, test logs.
add() { python3 -B tests/summary.py add "$work/results" "$1" "$2" "$3" "$4" "$work/output" "${@:5}"; }

# Runs the Bazel tests under a configuration. Arguments: part, link to its outputs, Bazel flags..., --, targets...
bazel_tests() {
  local part=$1 logs=$2-testlogs began=$SECONDS
  shift 2
  note "$part: bazel test $*"
  bazel test --keep_going --test_summary=short --show_progress --show_progress_rate_limit=30 "$@" 2>&1 |
    tee "$work/output" | grep -vE '^(INFO|Loading|Analyzing|DEBUG)'
  add bazel "$part" $((SECONDS - began)) "${PIPESTATUS[0]}" "$logs"
}

# Runs a script. Arguments: part, command...
script() {
  local part=$1 began=$SECONDS
  shift
  note "$part: $*"
  "$@" 2>&1 | tee "$work/output"
  add script "$part" $((SECONDS - began)) "${PIPESTATUS[0]}"
}

# A test of one thread that passes under the sanitizers passes in the optimised build, too: it is compiled and run once,
# there. What depends on time, threads or processes runs both ways, and so does what draws thousands of seeds, a fifth
# of which it runs under the sanitizers.
both='set(//tests/transport:contract_test //tests/transport:contract_faults_test
  //tests/transport/collectives:oversubscribed_test //tests/transport/collectives:example_test
  //tests/transport/collectives:tree_barrier_test //tests/transport/collectives:tree_collectives_test
  //tests/replication/client:session_client_test //tests/replication/stable:death_test
  //tests/transport/host:writer_lock_test //tests/replication/replica:snapshot_group_test
  //tests/replication/replica/snapshots:all //tests/transport/host:all //tests/services/launch:all
  //tests/services/handover:all //tests/services/replica_process:all
  //tests/services/serving:all //tests/services/control:control_service_test
  //tests/services/control:control_drills_test
  //tests/services/ingot_load:load_engine_test //tests/services/ingot_load:target_search_test
  //tests/services/rpc/client:channel_test //tests/services/rpc/client:faulty_server_test
  //tests/replication/agreement:simulation_test //tests/replication/agreement:failover_test
  //tests/replication/agreement:multi_paxos_faults_test
  //tests/transport:incoherent_test //tests/transport/collectives:atomic_broadcast_test
  //tests/transport/collectives:tree_barrier_incoherent_test
  //tests/transport/collectives:tree_collectives_incoherent_test)'
once=()
if [ "$quick" -eq 0 ]; then
  tests='kind(cc_test, //tests/...)'
  query="$tests except attr(tags, 'no-asan', $tests) except $both"
  mapfile -t once < <(bazel query "$query" 2>"$work/output" | sed 's/^/-/')
  [ ${#once[@]} -gt 0 ] || { cat "$work/output"; exit 1; }
fi

# A test that draws seeds by way of a library names //tests:seeds, too: else Bazel keeps its result (defs.bzl).
all_that_draw_are_tagged() {
  local found
  found=$(bazel query 'kind("_test rule", rdeps(//tests/..., set(//tests:seeds //tests:seeds.py)))
    except attr(tags, "\bseeds\b", tests(//tests/...)) except filter("_help_test$", tests(//tests/...))') || return 1
  [ -z "$found" ] || { printf 'draws seeds and lacks //tests:seeds among its own deps: %s\n' $found; return 1; }
}

script "seeds" all_that_draw_are_tagged
script "build" bazel build --show_progress --show_progress_rate_limit=30 -- //... "${once[@]}"
# The README's first command, on free ports.
script "readme" deploy/run.sh --once --listen=127.0.0.1:0 --metrics-listen=127.0.0.1:0
bazel_tests "optimised" bazel --build_tests_only -- //... "${once[@]}"
if [ "$quick" -eq 0 ]; then
  bazel_tests "asan+ubsan" bazel-asan --config=asan --test_tag_filters=-no-asan --build_tests_only -- \
    //... -//bench/...
  # TSan sees the threads of one process: it is for tests that have some, without gRPC's.
  bazel_tests "tsan" bazel-tsan --config=tsan --test_tag_filters=-no-tsan --build_tests_only -- \
    //tests/transport:contract_test //tests/transport/host:event_loop_test \
    //tests/transport/collectives:oversubscribed_test //tests/transport/collectives:example_test \
    //tests/transport/collectives:tree_barrier_test //tests/transport/collectives:tree_collectives_test \
    //tests/transport/host:writer_lock_test //tests/replication/client:session_client_test \
    //tests/replication/replica/snapshots:loader_test //tests/services/replica_process:death_watch_test
  script "model" tests/model/run.sh
  script "fuzz" tests/fuzz/run.sh
fi

python3 -B tests/summary.py show "$work/results"
