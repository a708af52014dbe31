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
command -v go >/dev/null || { echo "there is no Go here (apt install golang-go)" >&2; exit 3; }
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/go
mkdir -p "$cache" || { echo "$cache cannot be made" >&2; exit 3; }
export GOPATH=$cache GOCACHE=$cache/build GOTOOLCHAIN=local GOFLAGS="-mod=readonly -modcacherw" GOENV=off GO111MODULE=on
judge=$cache/judge-$(cat go.sum main.go | sha256sum | cut -c1-16)
if [ ! -x "$judge" ]; then
  timeout 120 go mod download github.com/anishathalye/porcupine >&2 ||
    { echo "Porcupine could not be fetched from the Go module proxy; is there a network?" >&2; exit 3; }
  go build -o "$judge.$$" . >&2 && mv "$judge.$$" "$judge" || exit 1
fi
echo "$judge"
