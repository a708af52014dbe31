#!/usr/bin/env python3
"""Builds the wheel of Python's module ingot, with libingot in it: one for CPython 3.10 and all later ones.

    client/ingot/python/build_wheel.py                  into dist; after `bazel build //client/ingot:libingot.so`
    client/ingot/python/build_wheel.py --output=FOLDER  there
    client/ingot/python/build_wheel.py --help

Prints the wheel's path. It needs a C compiler and Python's headers (Debian's libpython3-dev).
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = (os.path.join(HERE, "../libingot.so"),  # as Bazel's tests have it
             os.path.join(HERE, "../../../bazel-bin/client/ingot/libingot.so"))


def version_of(header):
    with open(header) as file:
        return re.search(r'#define INGOT_VERSION "(.*)"', file.read()).group(1)


def compiled(library, folder):
    """Paths of what is compiled, by their names in the wheel."""
    name = "libingot.so.0"
    shutil.copyfile(library, os.path.join(folder, name))
    shutil.copyfile(os.path.join(HERE, "../ingot.h"), os.path.join(folder, "ingot.h"))  # away from limits.h
    module = os.path.join(folder, "_ingot.abi3.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror",
                    "-I" + folder, "-I" + sysconfig.get_path("include"),
                    os.path.join(HERE, "_ingot.c"), "-o", module, "-L" + folder, "-l:" + name,
                    "-Wl,-rpath,$ORIGIN"], check=True)
    return {"ingot/" + name: os.path.join(folder, name), "ingot/_ingot.abi3.so": module}


def sources():
    folder = os.path.join(HERE, "ingot")
    return {"ingot/" + name: os.path.join(folder, name) for name in ("__init__.py", "_ingot.pyi", "py.typed")}


def metadata(version, tag):
    folder = f"ingot-{version}.dist-info/"
    return folder, {
        folder + "METADATA": f"Metadata-Version: 2.1\nName: ingot\nVersion: {version}\nRequires-Python: >=3.10\n"
                             "Summary: Reads the keys of an Ingot instance on this machine in place\n",
        folder + "WHEEL": f"Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"}


def write_wheel(output, library):
    version = version_of(os.path.join(HERE, "../ingot.h"))
    tag = f"cp310-abi3-linux_{platform.machine()}"
    path = os.path.join(output, f"ingot-{version}-{tag}.whl")
    folder, texts = metadata(version, tag)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        contents = {name: text.encode() for name, text in texts.items()}
        for name, source in {**sources(), **compiled(library, scratch)}.items():
            with open(source, "rb") as file:
                contents[name] = file.read()
        record = []
        for name, content in contents.items():
            wheel.writestr(name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")
        wheel.writestr(folder + "RECORD", "".join(record) + f"{folder}RECORD,,\n")
    return path


class Parser(argparse.ArgumentParser):
    """An error is one sentence."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message.replace('unrecognized arguments:', 'unknown flag')}; see --help\n")


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="dist", metavar="FOLDER")
    options = parser.parse_args()
    library = next((path for path in LIBRARIES if os.path.exists(path)), None)
    if library is None:
        sys.exit("build_wheel.py: there is no libingot.so yet; build it: bazel build //client/ingot:libingot.so")
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        sys.exit("build_wheel.py: there are no headers of Python; install Debian's libpython3-dev")
    os.makedirs(options.output, exist_ok=True)
    print(write_wheel(options.output, library))


if __name__ == "__main__":
    main()
