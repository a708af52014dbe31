#!/usr/bin/env bash
# Checks the layers: core <- transport <- replication <- services; client beside services, on replication's published
# view. Bazel's visibility checks targets; this checks includes, which a build without a sandbox does not.
set -u
cd "$(dirname "$(readlink -f WORKSPACE)")" || exit 1
bad=0
forbid() {  # FOLDER REGEX-OF-LAYERS
  local hits
  hits=$(grep -rnE "#include \"($2)/" "$1" --include='*.h' --include='*.cc')
  if [ -n "$hits" ]; then
    echo "$1 must not include from ($2):"
    echo "$hits"
    bad=1
  fi
}
for folder in core transport replication services; do
  [ -n "$(find -L "$folder" -name '*.h' -print -quit)" ] || { echo "no sources of $folder here"; exit 1; }
done
forbid core 'transport|replication|services|client|proto|tests|bench'
forbid transport 'replication|services|client|proto|tests|bench'
forbid replication 'services|client|proto|tests|bench'
forbid services 'tests|bench|client'
[ "$bad" -eq 0 ] && echo "layers hold"
exit "$bad"
