"""Generated protobuf and gRPC code. It is not ours, so it is compiled without our warnings."""

def _generated_library(name, srcs, deps, imports, visibility, kinds, flags, runtime):
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + kind + ".h" for stem in stems for kind in kinds]
    sources = [stem + kind + ".cc" for stem in stems for kind in kinds]
    native.genrule(
        name = name + "_generate",
        srcs = srcs + imports,
        outs = headers + sources,
        cmd = " ".join(["protoc --proto_path=. --cpp_out=$(GENDIR)"] + flags + ["$(location %s)" % src for src in srcs]),
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        deps = deps + runtime + ["//third_party:protobuf"],
        visibility = visibility,
    )

def ingot_grpc_library(name, srcs, deps = [], imports = [], visibility = None):
    """Compiles .proto files into one C++ library with message and service classes.

    Include the results by their path from the repository root, such as "proto/etcd/rpc.pb.h" and
    "proto/etcd/rpc.grpc.pb.h"; .proto files import each other by the same paths.

    Args:
      name: the library.
      srcs: .proto files of this package.
      deps: other ingot_grpc_library targets whose files are imported.
      imports: the .proto files of `deps`, as labels.
      visibility: as everywhere.
    """
    _generated_library(
        name,
        srcs,
        deps,
        imports,
        visibility,
        kinds = [".pb", ".grpc.pb"],
        flags = ["--grpc_out=$(GENDIR)", "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin"],
        runtime = ["//third_party:grpcpp"],
    )

def ingot_lite_library(name, srcs, deps = [], imports = [], visibility = None):
    """Compiles .proto files without services into one C++ library; they choose LITE_RUNTIME themselves.

    Args:
      name: the library.
      srcs: .proto files of this package.
      deps: other ingot_lite_library targets whose files are imported.
      imports: the .proto files of `deps`, as labels.
      visibility: as everywhere.
    """
    _generated_library(name, srcs, deps, imports, visibility, kinds = [".pb"], flags = [], runtime = [])
