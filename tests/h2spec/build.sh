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
command -v go >/dev/null || { echo "there is no Go here (apt install golang-go)" >&2; exit 3; }
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/go
mkdir -p "$cache" || { echo "$cache cannot be made" >&2; exit 3; }
export GOPATH=$cache GOCACHE=$cache/build GOTOOLCHAIN=local GOFLAGS="-mod=readonly -modcacherw" GOENV=off GO111MODULE=on
program=$cache/h2spec-$(cat go.sum | sha256sum | cut -c1-16)
if [ ! -x "$program" ]; then
  timeout 300 go mod download >&2 ||
    { echo "h2spec could not be fetched from the Go module proxy; is there a network?" >&2; exit 3; }
  go build -o "$program.$$" github.com/summerwind/h2spec/cmd/h2spec >&2 && mv "$program.$$" "$program" || exit 1
fi
echo "$program"
