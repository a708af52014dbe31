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
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/go
mkdir -p "$cache" || { echo "$cache cannot be made" >&2; exit 3; }
export GOPATH=$cache GOCACHE=$cache/build GOTOOLCHAIN=local GOFLAGS="-mod=readonly -modcacherw" GOENV=off GO111MODULE=on
package=go.etcd.io/etcd/v3/tools/benchmark
program=$cache/etcd-benchmark-$(cat go.sum | sha256sum | cut -c1-16)
if [ ! -x "$program" ]; then
  command -v go >/dev/null || {
    echo "etcd's benchmark tool needs Go, and there is none here (apt install golang-go)" >&2
    exit 3
  }
  # It reads each package's imports, so it fetches what the tool needs and no more.
  timeout 600 go list -deps "$package" >/dev/null ||
    { echo "etcd's benchmark tool could not be fetched from the Go module proxy; is there a network?" >&2; exit 3; }
  go build -o "$program.$$" "$package" >&2 && mv "$program.$$" "$program" ||
    { echo "etcd's benchmark tool does not build" >&2; exit 1; }
fi
echo "$program"
