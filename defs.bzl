"""Every target of ours is compiled with the same warnings; use these rules instead of the native ones."""

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

# Tests whose outcome is a matter of chance, which `tests/run.sh --stress` repeats, by what they use:
#   seeds   draws seeds. It runs each time (external): a cached result says nothing about new seeds.
#   timing  depends on time, or on threads or processes that it starts or kills.
# Whoever does either without one of these has the tag in its BUILD file.
CHANCE = {
    "//tests:seeds": ["external", "seeds"],
    "//tests:seeds.py": ["external", "seeds"],
    "//tests/daemon:ingot_daemon.py": ["timing"],
    "//tests/transport/host:child": ["timing"],
}

def _absolute(label):
    """The label with its package and the name of its target written out."""
    if not label.startswith("//"):
        return "//%s:%s" % (native.package_name(), label.lstrip(":"))
    return label if ":" in label else label + ":" + label.split("/")[-1]

def _tags(tags, uses):
    chance = [tag for each in uses for tag in CHANCE.get(_absolute(each), [])]
    return sorted(depset(tags + chance).to_list())

def _precompiled():
    """Flags and deps by which each file reads a compiled header first (precompiled.bzl).

    Under ASan alone, whose objects are half of the suite's cost: a file that lacks an #include fails optimised.
    """
    name = "tests" if (native.package_name() + "/").startswith("tests/") else "most"
    package = "//third_party/precompiled:"
    return (
        select({package + "asan": ["-include", name + ".hh"], "//conditions:default": []}),
        select({package + "asan": [package + name], "//conditions:default": []}),
    )

def ingot_library(name, copts = [], deps = [], **kwargs):
    include, header = _precompiled()
    native.cc_library(name = name, copts = WARNINGS + include + copts, deps = deps + header, **kwargs)

def ingot_rule_library(name, srcs, hdrs = [], deps = [], rule_deps = [], **kwargs):
    """A library with named rules (core/rule.h), in three targets.

    NAME is the library. NAME_mutable is the same, but each rule can be left out, for tests. NAME_headers is for what is
    linked with either: a program that has it in its deps also needs NAME or NAME_mutable. rule_deps are those deps that
    are such libraries themselves.
    """
    rule_deps = [_absolute(label) for label in rule_deps]
    deps = deps + ["//core:rule"]
    headers = name + "_headers"
    ingot_library(name = headers, hdrs = hdrs, deps = deps + [label + "_headers" for label in rule_deps], **kwargs)
    ingot_library(name = name, srcs = srcs, deps = [":" + headers] + deps + rule_deps, **kwargs)
    ingot_library(
        name = name + "_mutable",
        testonly = True,
        srcs = srcs,
        local_defines = ["INGOT_MUTABLE"],
        deps = [":" + headers] + deps + [label + "_mutable" for label in rule_deps],
        **kwargs
    )

def ingot_binary(name, copts = [], deps = [], **kwargs):
    """A program, and a test that it explains itself: NAME_help_test."""
    include, header = _precompiled()
    native.cc_binary(name = name, copts = WARNINGS + include + copts, deps = deps + header, **kwargs)
    if not name.endswith(".so"):
        native.sh_test(
            name = name + "_help_test",
            size = "small",
            srcs = ["//tests:help_test.py"],
            args = ["$(location :%s)" % name],
            data = [":" + name],
            tags = [
                "no-asan",
                "no-tsan",
            ],
        )

def ingot_test(name, copts = [], deps = [], tags = [], **kwargs):
    """A Catch2 test: its main is //third_party:catch2."""
    include, header = _precompiled()
    native.cc_test(
        name = name,
        copts = WARNINGS + include + copts,
        tags = _tags(tags, deps),
        deps = deps + header + ["//third_party:catch2"],
        **kwargs
    )

def ingot_python_test(name, main, data = [], tags = [], **kwargs):
    """A test in Python's standard library (unittest); it finds binaries at their paths from the repository root."""
    native.sh_test(
        name = name,
        srcs = ["//tests:python_test.sh"],
        args = ["$(location %s)" % main],
        data = [main] + data,
        tags = _tags(tags, data),
        **kwargs
    )
