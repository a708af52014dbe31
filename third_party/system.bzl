"""A system library is nothing but link options: its headers are on the default include path."""

def system_library(name, libs, deps = [], no_as_needed = False):
    """Declares a library that Debian installs.

    Args:
      name: the target.
      libs: names for the linker, without "-l"; ":file.so" names a file.
      deps: libraries that must come after this one on the linker's command line.
      no_as_needed: keep the library even if no symbol of it is named.
    """
    flags = ["-l" + lib for lib in libs]
    if no_as_needed:
        flags = ["-Wl,--push-state,--no-as-needed"] + flags + ["-Wl,--pop-state"]
    native.cc_library(
        name = name,
        linkopts = flags + ["-lpthread"],
        deps = deps,
    )
