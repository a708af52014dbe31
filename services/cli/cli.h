// What every command line of ours does the same way: one sentence for an error, one meaning for an exit code.
//
//   0  done
//   1  the outside world said no: a daemon that cannot be reached, an answer that is an error, a check that failed; the
//      same command may succeed another time
//   2  what was asked for is wrong or impossible here: flags, values, files, a port or a name in use; nothing was started
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "services/cli/words.h"

namespace ingot {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// 0 for OK; 2 for InvalidArgument, AlreadyExists, FailedPrecondition and OutOfRange; 1 for everything else.
int exit_code(const absl::Status& status);

// Parses the command line, then runs `body` once and returns the process's exit code. Errors of either go to standard
// error as one sentence, "PROGRAM: what is wrong; how to mend it"; a status with an empty message prints nothing.
// --help goes to standard output. Nothing escapes as an exception.
int run_cli(CLI::App& app, int argc, const char* const* argv, absl::FunctionRef<absl::Status()> body);

// A flag that takes one of a few words: `option->check(one_of({"nvp", "srbp"}))`.
CLI::Validator one_of(const std::vector<std::string>& words);

// A flag that takes a whole number within these bounds, both included.
CLI::Validator whole_number(std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace ingot
