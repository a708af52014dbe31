#!/usr/bin/env bash
# Installs the missing ones of the Debian 12 packages that Ingot is built from and used with.
#
#   ./deploy/install.sh           packages for the build, and the programs that README.md uses
#   ./deploy/install.sh --tests   and for the tests: etcd, Prometheus, Python's gRPC, Go, Maven, clang; and what they
#                                 fetch for the user who calls this: Porcupine (Go) and the model checker (Maven)
#   ./deploy/install.sh --compare and etcd, which ./deploy/run.sh --compare measures, too
#   ./deploy/install.sh --benches and for the benches: Open MPI and MPICH
#
# Needs root, or sudo without a password. Services of packages that it installs (etcd, Prometheus) are neither
# started nor left enabled.
set -euo pipefail

self=$(readlink -f "$0")

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
fail() {
  echo "deploy/install.sh: $1" >&2
  exit "${2:-1}"
}

packages=(
  g++ python3 pkg-config
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libabsl-dev
  libboost1.81-dev libboost-context1.81-dev libnghttp2-dev libssl-dev zlib1g-dev
  libcli11-dev nlohmann-json3-dev libhwloc-dev prometheus-cpp-dev
  catch2
  liblmdb-dev  # bench/local_read
  etcd-client curl  # README.md
)
test_packages=(
  etcd-server prometheus python3-grpcio python3-protobuf golang-go maven
  clang-14 libclang-rt-14-dev  # the fuzzers
  luajit2 libpython3-dev  # libingot for Lua and Python; nginx with Lua conflicts with the package luajit
  zip  # Bazel keeps the files of failed tests with it
)
bench_packages=(openmpi-bin libopenmpi3 mpich libmpich12)
services=(etcd prometheus prometheus-node-exporter)

tests=0
for argument in "$@"; do
  case "$argument" in
    --tests) packages+=("${test_packages[@]}"); tests=1 ;;
    --compare) packages+=(etcd-server) ;;
    --benches) packages+=("${bench_packages[@]}") ;;
    --help | -h) usage; exit 0 ;;
    *) fail "unknown flag $argument; see --help" 2 ;;
  esac
done

# What cannot be fetched is no reason to stop: the tests that need it are skipped, and say so.
fetch_for_tests() {
  [ "$tests" -eq 1 ] || return 0
  local folder
  folder=$(dirname "$self")/../tests
  "$folder/chaos/porcupine/build.sh" >/dev/null || true
  "$folder/model/run.sh" --fetch >&2 || true
}

command -v apt-get >/dev/null || fail "this needs Debian 12: there is no apt-get here"
present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "installed $package" <<<"$present" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  fetch_for_tests
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null || fail "as root, install what is missing and start again: apt-get install ${missing[*]}"
  as_root=(sudo -n)
fi

# Debian starts a service on installation, unless this file forbids it. A file that is there already is the
# administrator's and stays.
policy=/usr/sbin/policy-rc.d
new_services=()
for service in "${services[@]}"; do
  [ -e "/lib/systemd/system/$service.service" ] || new_services+=("$service")
done
finish() {
  [ -z "${own_policy:-}" ] || "${as_root[@]}" rm -f "$policy"
  local service
  for service in "${new_services[@]}"; do
    [ -e "/lib/systemd/system/$service.service" ] || continue
    "${as_root[@]}" deb-systemd-helper disable "$service.service" >/dev/null 2>&1 || true
    "${as_root[@]}" update-rc.d "$service" disable >/dev/null 2>&1 || true
  done
}
trap finish EXIT
if [ ! -e "$policy" ]; then
  own_policy=1
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
log=$(mktemp)
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1; }
apt update || echo "deploy/install.sh: the package lists could not be refreshed; going on with those that are here" >&2
if ! apt install --yes --no-install-recommends "${missing[@]}"; then
  tail -n 20 "$log" >&2
  fail "apt-get could not install what is missing; the lines above, and all of $log, say why"
fi
rm -f "$log"
fetch_for_tests
