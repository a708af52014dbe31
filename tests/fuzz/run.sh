#!/usr/bin/env bash
# Fuzzes all targets with clang's libFuzzer, which coverage guides, and AddressSanitizer, beginning with the inputs in
# tests/fuzz/corpus.
#
#   tests/fuzz/run.sh                  all targets together for four minutes of processor time
#   tests/fuzz/run.sh --hours=8        for so long; --seconds=N likewise
#   tests/fuzz/run.sh --target=entry   only this one; may be given several times
#   tests/fuzz/run.sh --jobs=N         targets at a time; default: one for each core
#   tests/fuzz/run.sh --target=entry --replay=FILE   one input, such as one that an earlier run kept
#   tests/fuzz/run.sh --grow           afterwards, inputs that reach something new are added to tests/fuzz/corpus
#   tests/fuzz/run.sh --help
#
# Exit code: 0 nothing found; 1 something was, and its input is kept; 2 bad flags; 77 skipped for lack of clang.
set -uo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/../.." || exit 1

readonly input_bytes_max=4096
readonly watchdog_s=600        # of one input: it ends one that hangs, on any machine
readonly corpus_bytes_max=512  # of an input that --grow adds
readonly corpus_inputs_max=40  # of a target, likewise

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
fail() {
  echo "tests/fuzz/run.sh: $1" >&2
  exit "${2:-1}"
}
number() { [[ ${1#*=} =~ ^[1-9][0-9]{0,6}$ ]] || fail "${1%%=*} takes a whole number from 1 on, not ${1#*=}" 2; }

seconds=240
jobs=$(nproc)
grow=0
replay=
targets=()
for argument in "$@"; do
  case "$argument" in
    --seconds=*) number "$argument"; seconds=${argument#*=} ;;
    --hours=*) number "$argument"; seconds=$((${argument#*=} * 3600)) ;;
    --jobs=*) number "$argument"; jobs=${argument#*=} ;;
    --target=*) targets+=("${argument#*=}") ;;
    --replay=*) replay=$(readlink -f "${argument#*=}") && [ -r "$replay" ] || fail "$argument cannot be read" 2 ;;
    --grow) grow=1 ;;
    --help | -h) usage; exit 0 ;;
    *) fail "unknown flag $argument; see --help" 2 ;;
  esac
done
[ -z "$replay" ] || [ ${#targets[@]} -eq 1 ] || fail "--replay needs the one --target that the input is for" 2

clang=$(command -v clang++-14 || command -v clang++) || {
  echo "SKIPPED: there is no clang++ here (apt install clang-14 libclang-rt-14-dev)"
  exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ingot-fuzz-XXXXXX") || exit 1
began=$SECONDS

# Bazel builds everything once more with GCC, from which the linker takes what is not listed here. What reads bytes from
# outside is compiled by clang, so that its coverage guides the fuzzer.
sources=(
  tests/fuzz/{libfuzzer,targets,agreement_targets,gateway_targets,rpc_targets,snapshot_targets,supervision_targets}.cc
  tests/fuzz/{lock,view}_targets.cc
  tests/fuzz/{counted_heap,client_actions,client_oracles,client_peer,client_schedule,client_world}.cc
  replication/requests/request.cc replication/replica/{applier,sessions}.cc replication/store/*.cc
  replication/replica/snapshots/{format,messages,transfer}.cc
  services/backup/{format,load,sha256}.cc
  replication/view/generation/{reader,tree_walk}.cc replication/view/board/board.cc
  replication/view/handle/{handle,mapped_view}.cc
  replication/agreement/messages.cc replication/agreement/one_paxos/config_entry.cc
  services/handover/handover_state.cc services/launch/{launch_spec,supervision_channel,supervision_messages}.cc
  services/config/{config_message,setting,setting_text}.cc
  services/rpc/{json,wire}/*.cc
  services/rpc/server/{call,flood_guard,holdings,http1_calls,http1_request,methods,request_head}.cc
  services/rpc/server/{session,session_calls,session_input,session_json}.cc
  services/rpc/server/{session_memory,session_output,stream,turns}.cc
  services/watch/*.cc
  services/etcd/{errors,header,json_paths,keep_alives,kv_methods,lease_methods,long_reads,range_call,sorted_pages}.cc
  services/etcd/{translate_requests,translate_results}.cc
  services/locks/*.cc
)
mapfile -t labels < <(bazel query 'kind(cc_library, deps(//tests/fuzz:targets))' 2>/dev/null | grep '^//')
bazel build //tests/fuzz:fuzz_driver "${labels[@]}" >"$work/build" 2>&1 ||
  { cat "$work/build"; fail "the targets do not build"; }
mapfile -t libraries < <(printf '%s\n' "${labels[@]}" | sed -nE 's|^//([^:]+):(.*)$|bazel-bin/\1/lib\2.a|p')
present=()
for library in "${libraries[@]}"; do [ ! -e "$library" ] || present+=("$library"); done
compile() {
  "$clang" -std=c++20 -O1 -gline-tables-only -fsanitize=fuzzer-no-link,address -I. -Ibazel-bin -c "$1" \
    -o "$work/$(tr / _ <<<"$1").o"
}
export -f compile
export clang work
printf '%s\n' "${sources[@]}" | xargs -P "$jobs" -I{} bash -c 'compile {}' >"$work/build" 2>&1 &&
  "$clang" -fsanitize=fuzzer,address "$work"/*.o -Wl,--start-group "${present[@]}" -Wl,--end-group \
    $(pkg-config --libs grpc++ protobuf absl_status absl_statusor absl_strings absl_raw_hash_set absl_hash hwloc \
      libnghttp2 zlib libcrypto prometheus-cpp-core) \
    -o "$work/fuzz" >>"$work/build" 2>&1 || { tail -n 40 "$work/build"; fail "the fuzzer does not build"; }

mapfile -t known < <("$work/fuzz")
[ ${#targets[@]} -gt 0 ] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  grep -qxF -- "$target" < <(printf '%s\n' "${known[@]}") || fail "there is no target $target; there are ${known[*]}" 2
done
if [ -n "$replay" ]; then
  INGOT_FUZZ_TARGET=${targets[0]} "$work/fuzz" "$replay"
  exit $?
fi

each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1
echo "built in $((SECONDS - began)) s; ${#targets[@]} targets, $each s each, $jobs at a time"
fuzz() {  # TARGET: its new inputs go to $work/new/TARGET, what it finds to $work/found.TARGET.*
  mkdir -p "$work/new/$1" "tests/fuzz/corpus/$1"
  INGOT_FUZZ_TARGET=$1 "$work/fuzz" -max_total_time="$each" -max_len="$input_bytes_max" -len_control=0 \
    -timeout="$watchdog_s" -report_slow_units="$watchdog_s" -print_final_stats=1 -artifact_prefix="$work/found.$1." "$work/new/$1" "tests/fuzz/corpus/$1" >"$work/log.$1" 2>&1
}
export -f fuzz
export each input_bytes_max watchdog_s
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz {}'

shown() { sed -n "s/^$1:* *\([0-9]*\).*/\1/p" "$work/log.$2" | tail -1; }
bad=0
for target in "${targets[@]}"; do
  found=$(compgen -G "$work/found.$target.*" | head -1)
  executed=$(shown stat::number_of_executed_units "$target")
  reached=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/log.$target" | tail -1)
  if [ -z "$found" ] && [ -n "$executed" ]; then
    echo "$target: $executed inputs, $reached places reached, $(sed -n 's/^INFO: Seed: /seed /p' "$work/log.$target")"
    continue
  fi
  bad=1
  tail -n 40 "$work/log.$target"
  echo "$target: FAILED; all of it: $work/log.$target"
  [ -z "$found" ] || echo "again: tests/fuzz/run.sh --target=$target --replay=$found"
done

if [ $grow -eq 1 ]; then
  for target in "${targets[@]}"; do
    find "$work/new/$target" -type f -size +"${corpus_bytes_max}c" -delete
    mkdir -p "$work/merged/$target"
    INGOT_FUZZ_TARGET=$target "$work/fuzz" -merge=1 "$work/merged/$target" "tests/fuzz/corpus/$target" \
      "$work/new/$target" >"$work/log.$target" 2>&1
    # The smallest first: those of a folder that is full stay out.
    while read -r file; do
      [ "$(find "tests/fuzz/corpus/$target" -type f | wc -l)" -lt "$corpus_inputs_max" ] || break
      cp -n "$file" "tests/fuzz/corpus/$target/"
    done < <(find "$work/merged/$target" -type f -printf '%s %p\n' | sort -n | cut -d' ' -f2-)
  done
fi
[ $bad -ne 0 ] || rm -rf "$work"
exit $bad
