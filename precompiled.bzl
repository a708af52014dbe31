"""A header of headers that most files include, compiled once: to read them takes longer than the files themselves."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    folder = ctx.label.name + "_compiled/"
    header = ctx.actions.declare_file(folder + ctx.file.header.basename)
    ctx.actions.expand_template(template = ctx.file.header, output = header, substitutions = {})
    outputs = [header]
    for level in ctx.attr.levels:
        output = ctx.actions.declare_file(folder + ctx.file.header.basename + ".gch/" + level)
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            source_file = header.path,
            output_file = output.path,
            quote_include_directories = depset(["."]),
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + [level],
            use_pic = True,  # .bazelrc: --force_pic
        )
        ctx.actions.run(
            executable = cc_common.get_tool_for_action(
                feature_configuration = features,
                action_name = CPP_COMPILE_ACTION_NAME,
            ),
            arguments = cc_common.get_memory_inefficient_command_line(
                feature_configuration = features,
                action_name = CPP_COMPILE_ACTION_NAME,
                variables = variables,
            ),
            env = cc_common.get_environment_variables(
                feature_configuration = features,
                action_name = CPP_COMPILE_ACTION_NAME,
                variables = variables,
            ),
            inputs = depset([header] + ctx.files.headers, transitive = [toolchain.all_files]),
            outputs = [output],
            mnemonic = "PrecompileHeader",
        )
        outputs.append(output)
    context = cc_common.create_compilation_context(
        headers = depset(outputs + ctx.files.headers),
        quote_includes = depset([header.dirname]),
    )
    return [DefaultInfo(files = depset(outputs)), CcInfo(compilation_context = context)]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "header": attr.label(allow_single_file = [".hh"], mandatory = True),  # .h is C for the compiler's driver
        "headers": attr.label_list(allow_files = [".hh"]),  # that it may include
        # Compiled for each of these: GCC takes that one of a folder's files whose macros are those of the file that it
        # compiles, __OPTIMIZE__ among them, and reads the header itself if there is none.
        "levels": attr.string_list(mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
