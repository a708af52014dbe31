#!/usr/bin/env bash
# Makes the machine files of this folder from published topologies, into the folder given (default: this one).
#
#   machines/derive.sh PATH-OF-INGOTCTL [FOLDER]
set -euo pipefail
ingotctl=${1:?give the path of ingotctl}
folder=${2:-$(dirname "$0")}

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
