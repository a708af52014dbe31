#!/usr/bin/env bash
# Fuzzes one target with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer:
#   tests/fuzz/libfuzzer.sh TARGET SECONDS [WORK_FOLDER]
# TARGET: request, result, batch, message, snapshot, entry, agreement, snapshot_message or snapshot_file. The other two,
# of the supervision channel, need generated code and more of Ingot: fuzz_driver runs them.
# The corpus and any crash stay in the work folder (default: a new one under /tmp).
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:?which target: request, result, batch, message, snapshot, entry, agreement, snapshot_message or snapshot_file}
seconds=${2:?how many seconds}
work=${3:-$(mktemp -d)}
clang=$(command -v clang++ || command -v clang++-14) || {
  echo "libFuzzer needs clang and its runtime: apt-get install clang-14 libclang-rt-14-dev" >&2
  exit 2
}
mkdir -p "$work/corpus"
"$clang" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -DINGOT_FUZZ_RUN="run_$target" -DINGOT_FUZZ_SAMPLE="sample_$target" -I. \
  tests/fuzz/libfuzzer.cc tests/fuzz/targets.cc tests/fuzz/agreement_targets.cc tests/fuzz/snapshot_targets.cc \
  tests/replication/store/random_requests.cc replication/agreement/one_paxos/config_entry.cc replication/agreement/messages.cc replication/store/*.cc \
  replication/requests/request.cc replication/replica/sessions.cc replication/replica/applier.cc \
  replication/replica/snapshots/{format,messages,transfer}.cc \
  $(pkg-config --libs absl_status absl_statusor absl_raw_hash_set absl_hash) -o "$work/fuzz_$target"
"$work/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -len_control=0 -artifact_prefix="$work/" "$work/corpus"
