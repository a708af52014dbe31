#!/usr/bin/env bash
# Builds etcd's own benchmark tool and prints its path. Fetches it from the Go module proxy the first time; go.sum has
# the checksums.
#
#   bench/against/build.sh
#   $(bench/against/build.sh) --help    what it measures
#
# Exit code: 0 built; 1 it does not build; 2 bad arguments; 3, with the reason, if there is no Go or the proxy cannot be
# reached.
set -uo pipefail

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  ?*) echo "bench/against/build.sh: unknown argument $1; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. ../../tests/go_program.sh
go_program etcd-benchmark go.etcd.io/etcd/v3/tools/benchmark "etcd's benchmark tool" go.sum
