"""Every target of ours is compiled with the same warnings; use these rules instead of the native ones."""

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

def ingot_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = WARNINGS + copts, **kwargs)

def ingot_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = WARNINGS + copts, **kwargs)

def ingot_test(name, copts = [], deps = [], **kwargs):
    """A Catch2 test: its main is //third_party:catch2."""
    native.cc_test(name = name, copts = WARNINGS + copts, deps = deps + ["//third_party:catch2"], **kwargs)

def ingot_python_test(name, main, data = [], **kwargs):
    """A test in Python's standard library (unittest); it finds binaries at their paths from the repository root."""
    native.sh_test(
        name = name,
        srcs = ["//tests:python_test.sh"],
        args = ["$(location %s)" % main],
        data = [main] + data,
        **kwargs
    )
