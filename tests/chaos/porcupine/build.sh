#!/usr/bin/env bash
# Builds the checker and prints its path. Fetches Porcupine from the Go module proxy the first time; go.sum has the
# checksums.
#
#   tests/chaos/porcupine/build.sh
#   $(tests/chaos/porcupine/build.sh) --help    what the checker does
#
# Exit code: 0 built; 1 it does not build; 2 bad arguments; 3, with the reason, if there is no Go or the proxy cannot be
# reached.
set -uo pipefail

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  ?*) echo "tests/chaos/porcupine/build.sh: unknown argument $1; see --help" >&2; exit 2 ;;
esac
cd "$(dirname "$(readlink -f "$0")")" || exit 1
. ../../go_program.sh
go_program judge . Porcupine go.sum main.go
