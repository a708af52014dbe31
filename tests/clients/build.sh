#!/usr/bin/env bash
# Builds one client of tests/clients/run.sh or recipes.sh, or program of programs.sh, and prints the command that starts
# it. Fetches what it needs the first time, in fixed versions: Go's modules by go.sum, Python's packages into a folder of
# their own, Java's from Maven, JavaScript's and Rust's by their lock files.
#
#   tests/clients/build.sh go | etcd-client | grpcurl | python | java | etcdctl
#   tests/clients/build.sh etcd-client-3.4 | etcd-client-3.5.0 | etcd-client-3.6 | etcd-client-3.7
#   tests/clients/build.sh recipes | recipes-3.4 | recipes-3.5.0 | recipes-3.6 | recipes-3.7
#   tests/clients/build.sh python-etcd3 | js-etcd3 | rust-etcd-client | jetcd    holders of recipes.sh
#   tests/clients/build.sh coredns | patroni | etcd3gw | etcd-3.6 | etcdctl-3.6    programs of programs.sh
#   tests/clients/build.sh descriptors    the messages of the API, for all clients
#   tests/clients/build.sh mixin          etcd's own dashboard for Grafana, as JSON, for dashboard.sh
#   tests/clients/build.sh mixin-alerts   etcd's own alerts, as JSON, for alerts.sh
#
# Exit code: 0 built; 1 it does not build; 2 bad arguments; 3, with the reason, if the machine lacks the language or the
# network.
set -uo pipefail

here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }
not_here() { echo "$1" >&2; exit 3; }
needed() { command -v "$1" >/dev/null || not_here "there is no $1 here (apt install $2)"; }
# build.sh's folder of one kind: a new one for each state of the files given, so that nothing old is used.
folder_for() {
  local kind=$1; shift
  made=$cache/$kind-$(cat "$@" | sha256sum | cut -c1-16)
  mkdir -p "$made" || not_here "$made cannot be made"
}

# Arguments: name, package, and, for a version of etcd's client in go/versions, that.
go_program() {
  needed go golang-go
  export GOPATH=$cache/go GOCACHE=$cache/go/build GOTOOLCHAIN=local GOFLAGS="-mod=readonly -modcacherw" GOENV=off
  cd "$here/go" || exit 1
  local modules=$PWD/go words=() needs have
  if [ $# -eq 3 ]; then
    modules=$PWD/versions/$3
    words=("-modfile=$modules.mod" "-tags=etcd$3")
  fi
  needs=$(sed -n 's/^go //p' "$modules.mod") have=$(go env GOVERSION)
  printf '%s\n' "$needs" "${have#go}" | sort -V -C || not_here "$1 needs Go $needs, and here is ${have#go}"
  folder_for "$1" "$modules".* ./*/*.go
  if [ ! -x "$made/program" ]; then
    if [ -e "$modules.sed" ]; then
      { rm -rf "$made/source" && cp -r . "$made/source" && cd "$made/source" && sed -i -f "$modules.sed" "$2"/*.go; } ||
        exit 1
    fi
    timeout 300 go list "${words[@]}" -deps "$2" >/dev/null ||
      not_here "Go's modules could not be fetched; is there a network?"
    go build -p "${JOBS:-2}" "${words[@]}" -o "$made/program.$$" "$2" >&2 &&
      mv "$made/program.$$" "$made/program" || exit 1
  fi
  echo "$made/program"
}

# Arguments: name, program, its packages, and how pip may build them.
python_program() {
  needed python3 python3-venv
  folder_for "$1" "$3"
  if [ ! -e "$made/done" ]; then
    python3 -m venv "$made/venv" >&2 || not_here "python3 -m venv failed (apt install python3-venv)"
    timeout 300 "$made/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "${@:4}" \
      -r "$3" >&2 || not_here "Python's packages could not be fetched; is there a network?"
    touch "$made/done"
  fi
  echo "$made/venv/bin/python -B -u $2"
}

patroni() {
  needed python3 python3-venv
  folder_for patroni "$here/python/patroni/requirements.txt"
  if [ ! -e "$made/done" ]; then
    python3 -m venv "$made/venv" >&2 || not_here "python3 -m venv failed (apt install python3-venv)"
    timeout 300 "$made/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: \
      --no-binary=python-etcd --no-binary=ydiff -r "$here/python/patroni/requirements.txt" >&2 ||
      not_here "Patroni could not be fetched; is there a network?"
    touch "$made/done"
  fi
  echo "$made/venv/bin/patroni"
}

# Arguments: name, folder of the pom.xml and the sources, class.
java_program() {
  needed javac default-jdk-headless
  needed mvn maven
  folder_for "$1" "$2/pom.xml" "$2"/*.java
  if [ ! -e "$made/done" ]; then
    timeout 300 mvn -q -B -f "$2/pom.xml" dependency:copy-dependencies -DoutputDirectory="$made/lib" \
      -DincludeScope=runtime >&2 || not_here "Maven could not fetch Java's libraries; is there a network?"
    javac -cp "$made/lib/*" -d "$made/classes" "$2"/*.java >&2 || exit 1
    touch "$made/done"
  fi
  echo "java -cp $made/classes:$made/lib/* $3"
}

js_program() {
  needed node nodejs
  needed npm npm
  folder_for js "$here"/js/*
  if [ ! -e "$made/done" ]; then
    cp "$here"/js/* "$made" || exit 1
    (cd "$made" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund >&2) ||
      not_here "npm could not fetch JavaScript's packages; is there a network?"
    touch "$made/done"
  fi
  echo "node $made/holder.js"
}

rust_program() {
  needed cargo cargo
  needed protoc protobuf-compiler
  folder_for rust "$here"/rust/Cargo.* "$here"/rust/src/*.rs
  if [ ! -x "$made/program" ]; then
    rm -rf "$made/source" && cp -r "$here/rust" "$made/source" && cd "$made/source" || exit 1
    timeout 300 cargo fetch --quiet --locked >&2 || not_here "Rust's crates could not be fetched; is there a network?"
    cargo build --quiet --offline --locked --jobs "${JOBS:-2}" --target-dir "$made/target" >&2 &&
      mv "$made/target/debug/holder" "$made/program" && rm -rf "$made/target" || exit 1
  fi
  echo "$made/program"
}

descriptors() {
  needed protoc protobuf-compiler
  cd "$root" || exit 1
  folder_for descriptors proto/etcd/*.proto proto/grpc/*.proto
  [ -s "$made/set" ] || { protoc --include_imports --descriptor_set_out="$made/set.$$" proto/etcd/rpc.proto \
    proto/grpc/health.proto >&2 && mv "$made/set.$$" "$made/set"; } || exit 1
  echo "$made/set"
}

# The dashboard and the alerts are in the source of etcd's main module, which no program here is made of. Argument:
# dashboard or alerts.
mixin() {
  needed go golang-go
  needed jsonnet jsonnet
  local version=v3.6.8 sum='h1:zfUsRJ8ql/F1LrQ04o1wSjKzGpD/gKz6SKkvaoFaZEA='
  export GOPATH=$cache/go GOTOOLCHAIN=local GOFLAGS=-modcacherw GOENV=off
  made=$cache/mixin-$version
  mkdir -p "$made" || not_here "$made cannot be made"
  if [ ! -s "$made/$1.json" ]; then
    (cd "$made" && timeout 300 go mod download -json "go.etcd.io/etcd/v3@$version") >"$made/module" ||
      not_here "etcd's source could not be fetched; is there a network?"
    grep -qF "\"Sum\": \"$sum\"" "$made/module" || { echo "etcd's source has another checksum" >&2; exit 1; }
    local folder words
    folder=$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' "$made/module")/contrib/mixin
    case "$1" in
      # That for Grafana up to 7 needs no library of Grafana's; queries and panels are those of the other.
      dashboard) words="((import '$folder/config.libsonnet') + (import '$folder/dashboards/etcd-grafana7x.libsonnet') +
        {_config+:: {grafana7x: true}}).grafanaDashboards['etcd.json']" ;;
      alerts) words="((import '$folder/config.libsonnet') +
        (import '$folder/alerts/alerts.libsonnet')).prometheusAlerts" ;;
    esac
    jsonnet -e "$words" >"$made/$1.$$" && mv "$made/$1.$$" "$made/$1.json" || exit 1
  fi
  echo "$made/$1.json"
}

case "${1:-}" in
  --help | -h) usage; exit 0 ;;
esac
[ $# -eq 1 ] || { echo "tests/clients/build.sh: one client is needed; see --help" >&2; exit 2; }
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/clients
mkdir -p "$cache" || not_here "$cache cannot be made"
case "$1" in
  go) go_program go ./plain ;;
  etcd-client) go_program etcd-client ./etcdclient ;;
  etcd-client-3.4 | etcd-client-3.5.0 | etcd-client-3.6 | etcd-client-3.7)
    go_program "$1" ./etcdclient "${1#etcd-client-}" ;;
  grpcurl) go_program grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl ;;
  coredns) go_program coredns ./coredns coredns ;;
  etcd-3.6) go_program etcd-3.6 go.etcd.io/etcd/server/v3 etcd-3.6 ;;
  etcdctl-3.6) go_program etcdctl-3.6 go.etcd.io/etcd/etcdctl/v3 etcdctl-3.6 ;;
  patroni) patroni ;;
  recipes) go_program recipes ./recipes ;;
  recipes-3.4 | recipes-3.5.0 | recipes-3.6 | recipes-3.7) go_program "$1" ./recipes "${1#recipes-}" ;;
  python) python_program python "$here/python/player.py" "$here/python/requirements.txt" ;;
  python-etcd3)
    python_program python-etcd3 "$here/python/recipes/holder.py" "$here/python/recipes/requirements.txt" \
      --no-binary=etcd3 ;;
  etcd3gw)
    python_program etcd3gw "$here/python/etcd3gw/counter.py" "$here/python/etcd3gw/requirements.txt" ;;
  js-etcd3) js_program ;;
  rust-etcd-client) rust_program ;;
  java) java_program java "$here/java" Player ;;
  jetcd) java_program jetcd "$here/java/recipes" Holder ;;
  etcdctl) needed etcdctl etcd-client; command -v etcdctl ;;
  descriptors) descriptors ;;
  mixin) mixin dashboard ;;
  mixin-alerts) mixin alerts ;;
  *) echo "tests/clients/build.sh: unknown client $1; see --help" >&2; exit 2 ;;
esac
