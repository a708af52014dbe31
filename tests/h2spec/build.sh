#!/usr/bin/env bash
# Builds h2spec, the conformance test of HTTP/2, and prints its path. Fetches it from the Go module proxy the first
# time; go.sum has the checksums.
#
#   tests/h2spec/build.sh
#   $(tests/h2spec/build.sh) --dryrun    its cases
#
# Exit code: 0 built; 1 it does not build; 2 bad arguments; 3, with the reason, if there is no Go or the proxy cannot be
# reached.
set -uo pipefail

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  ?*) echo "tests/h2spec/build.sh: unknown argument $1; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. ../go_program.sh
go_program h2spec github.com/summerwind/h2spec/cmd/h2spec h2spec go.sum
