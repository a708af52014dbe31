#!/usr/bin/env bash
# Installs libingot for programs: the library, its headers, and what pkg-config reads.
#
#   client/ingot/install.sh                     to /usr/local; after `bazel build //client/ingot:libingot.so`
#   client/ingot/install.sh --prefix=FOLDER     there
#   client/ingot/install.sh --destdir=FOLDER    below that folder, for a package; paths are as without it
#   client/ingot/install.sh --help
set -euo pipefail

folder=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
prefix=/usr/local
destdir=

fail() {
  echo "client/ingot/install.sh: $1" >&2
  exit "${2:-1}"
}

for argument in "$@"; do
  case "$argument" in
    --prefix=/*) prefix=${argument#--prefix=} ;;
    --destdir=/*) destdir=${argument#--destdir=} ;;
    --prefix=* | --destdir=*) fail "${argument%%=*} needs an absolute path" 2 ;;
    --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$folder/install.sh"; exit 0 ;;
    *) fail "unknown argument $argument; see --help" 2 ;;
  esac
done

here=$(dirname "$0")
library=$here/libingot.so  # as Bazel's tests have it
[ -e "$library" ] || library=$folder/../../bazel-bin/client/ingot/libingot.so
[ -e "$library" ] || fail "there is no libingot.so yet; build it: bazel build //client/ingot:libingot.so"

version=$(sed -nE 's/^#define INGOT_VERSION "(.*)"$/\1/p' "$folder/ingot.h")
lib=$destdir$prefix/lib
mkdir -p "$lib/pkgconfig" "$destdir$prefix/include"
install -m 644 "$folder/ingot.h" "$folder/ingot.hpp" "$destdir$prefix/include"
install -m 755 "$library" "$lib/libingot.so.$version"
ln -sf "libingot.so.$version" "$lib/libingot.so.0"
ln -sf libingot.so.0 "$lib/libingot.so"
cat > "$lib/pkgconfig/ingot.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: ingot
Description: Reads the keys of an Ingot instance on this machine in place
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lingot
END
echo "installed libingot $version below $destdir$prefix; call ldconfig if programs are to find it there"
