#!/usr/bin/env bash
# Checks the layers: core <- transport <- replication <- services; client beside services, on replication's published
# view. Within a layer, folders use one another without cycles, and each folder has a namespace of its own.
# Bazel's visibility checks targets; this checks includes, which a build without a sandbox does not.
#
#   tests/layers_test.sh           from the root of the repository, or by bazel test //tests:layers_test
#   tests/layers_test.sh --help
set -u

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  ?*) echo "tests/layers_test.sh: unknown argument $1; see --help" >&2; exit 2 ;;
esac
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
# Subfolders of one folder use one another without cycles. A folder's own files may use its subfolders, and be used by
# them.
acyclic() {  # FOLDER
  local loop
  loop=$(grep -rnoE "#include \"$1/[^/\"]+/" "$1" --include='*.h' --include='*.cc' |
    sed -nE "s|^$1/([^/:]+)/[^:]*:[0-9]+:#include \"$1/([^/]+)/|\1 \2|p" |
    awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null)
  if [ -n "$loop" ]; then
    echo "folders in $1 include one another in a circle:"
    echo "$loop"
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
forbid client 'services|proto|tests|bench'
while read -r folder; do acyclic "$folder"; done < <(find -L core transport replication services client -type d)
# Two classes of one name in one namespace are one symbol to the linker, which reports nothing. So every folder has a
# namespace that no other has. What a folder only declares of another one's does not count.
namespaces() {
  find -L core transport replication services client -name '*.h' -o -name '*.cc' | sort | xargs awk '
    FNR == 1 { opened = "" }
    opened != "" && !/^(class|struct|enum class) [A-Za-z]+;/ {
      folder = FILENAME; sub("/[^/]*$", "", folder); print folder, opened
    }
    { opened = "" }
    /^namespace ingot/ { opened = $0; gsub(/^namespace | *\{.*|inline /, "", opened) }' |
    sort -u
}
shared=$(namespaces | awk '{ if ($2 in of) print $2 ": " of[$2] ", " $1; of[$2] = $1 }')
bare=$(namespaces | awk '$2 == "ingot"')
[ -z "$shared" ] || { echo "namespaces of more than one folder:"; echo "$shared"; bad=1; }
[ -z "$bare" ] || { echo "folders in namespace ingot; give each one of its own (CONTRIBUTING.md):"; echo "$bare"; bad=1; }
[ "$bad" -eq 0 ] && echo "layers hold"
exit "$bad"
