#!/usr/bin/env bash
# Makes the machine files of this folder from published topologies, into the folder given (default: this one).
#
#   machines/derive.sh PATH-OF-INGOTCTL [FOLDER]
#   machines/derive.sh bazel-bin/services/ingotctl/ingotctl
#   machines/derive.sh --help
set -euo pipefail
self=$(readlink -f "$0")

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
fail() {
  echo "machines/derive.sh: $1; see --help" >&2
  exit 2
}

case "${1:-}" in
  --help | -h) usage; exit 0 ;;
  -*) fail "unknown flag $1" ;;
esac
ingotctl=${1:-}
folder=${2:-$(dirname "$self")}
[ $# -le 2 ] || fail "there is an argument too many"
[ -f "$ingotctl" ] && [ -x "$ingotctl" ] || fail "the first argument is the path of ingotctl, not '$ingotctl'"
[ -d "$folder" ] || fail "there is no folder $folder"

derive() {  # NAME TOPOLOGY [FLAGS...]
  local name=$1 topology=$2
  shift 2
  "$ingotctl" machine derive --name="$name" --topology="$topology" "$@" > "$folder/$name.json"
}

derive intel-coffee-lake-1x8 "package:1 numa:1 l3:1 l2:8 core:1 pu:1"
derive amd-zen3-1x8x2 "package:1 numa:1 l3:1 l2:8 core:1 pu:2" --hyperthreads
derive intel-ivy-bridge-ep-2x10 "package:2 numa:1 l3:1 l2:10 core:1 pu:2"
derive amd-interlagos-4x4x2 "package:4 numa:2 l3:1 l2:2 core:2 pu:1"
derive aws-graviton3-1x64 "package:1 numa:1 l3:1 l2:64 core:1 pu:1"
derive intel-westmere-ex-8x8 "package:8 numa:1 l3:1 l2:8 core:1 pu:2"
derive intel-skylake-sp-4x16x2 "package:4 numa:1 l3:1 l2:16 core:1 pu:2" --hyperthreads
derive amd-rome-2x64 "package:2 numa:1 l3:16 l2:4 core:1 pu:2"
derive amd-rome-2x64x2 "package:2 numa:1 l3:16 l2:4 core:1 pu:2" --hyperthreads
"$ingotctl" machine derive --scc > "$folder/intel-scc-48.json"
