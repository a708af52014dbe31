#!/usr/bin/env bash
# Builds a program that measures servers of etcd's API and prints its path: etcd's own benchmark tool, or streams, which
# bench/watch and bench/lease call. Fetches what it needs from the Go module proxy the first time; go.sum has the
# checksums.
#
#   bench/against/build.sh              etcd's own benchmark tool
#   bench/against/build.sh streams
#   $(bench/against/build.sh) --help    what it measures
#
# Exit code: 0 built; 1 it does not build; 2 bad arguments; 3, with the reason, if there is no Go or the proxy cannot be
# reached.
set -uo pipefail

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  streams | "") ;;
  *) echo "bench/against/build.sh: unknown argument $1; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. ../../tests/go_program.sh
if [ "${1:-}" = streams ]; then
  go_program streams ./streams "the program that drives streams" go.sum streams/*.go
else
  go_program etcd-benchmark go.etcd.io/etcd/v3/tools/benchmark "etcd's benchmark tool" go.sum
fi
