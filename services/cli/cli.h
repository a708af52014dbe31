// Error messages and exit codes, the same for all programs.
//
//   0  done
//   1  a failure outside the command line: an unreachable daemon, an error answer, a failed check; the same command
//      may succeed another time
//   2  a wrong or impossible request: flags, values, files, a port or a name in use; nothing was started
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "services/cli/words.h"

namespace ingot::inline services_cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// 0 for OK; 2 for InvalidArgument, AlreadyExists, FailedPrecondition and OutOfRange; 1 for everything else.
int exit_code(const absl::Status& status);

// Flushes standard output. A program that prints without end asks after each answer. Errors: DATA_LOSS (standard output
// did not take all that was written to it).
absl::Status flush_output();

// Parses the command line, runs `body` once and returns the process's exit code. Errors of both go to standard error as
// one sentence, "PROGRAM: what is wrong; how to mend it"; a status with an empty message prints nothing. --help goes to
// standard output. Output that standard output does not take is an error like others. Throws nothing.
int run_cli(CLI::App& app, int argc, const char* const* argv, absl::FunctionRef<absl::Status()> body);

// Accepts one of `words`: `option->check(one_of({"nvp", "srbp"}))`.
CLI::Validator one_of(const std::vector<std::string>& words);

// Accepts a whole number from `min` to `max`, both included.
CLI::Validator whole_number(std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace ingot::services_cli
