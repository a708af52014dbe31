// Runs the verbs `machine` and `plan` from a command line.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "services/cli/cli.h"
#include "services/ingotctl/verbs/machine.h"
#include "services/ingotctl/verbs/plan.h"

namespace ingot {

inline std::string temporary(const std::string& name) { return std::string(std::getenv("TEST_TMPDIR")) + "/" + name; }

inline std::string file_with(const std::string& name, const std::string& text) {
  std::ofstream(temporary(name)) << text;
  return temporary(name);
}

inline std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Run {
  int code = 0;
  std::string output, error;
};

// The same command line as ingotctl's, without the verbs that need a daemon. The verbs keep the defaults of their
// arguments between runs, so each run is a separate process.
inline Run run(std::vector<std::string> words) {
  const std::string out = temporary("stdout"), err = temporary("stderr");
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(out.c_str(), "w", stdout) == nullptr || std::freopen(err.c_str(), "w", stderr) == nullptr)
      ::_exit(99);
    CLI::App app("A tool.", "ingotctl");
    app.require_subcommand(1);
    app.fallthrough();
    CtlOptions options;
    app.add_option("-o,--output", options.output)->check(one_of({"table", "json"}));
    Command chosen;
    register_machine(app, chosen);
    register_plan(app, chosen);
    std::vector<const char*> arguments{"ingotctl"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const int code =
        run_cli(app, static_cast<int>(arguments.size()), arguments.data(), [&] { return chosen(options); });
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), text_of(out), text_of(err)};
}

// The error of a command line that must be refused: one sentence, exit code 2, no output.
inline std::string refused(std::vector<std::string> words) {
  const Run result = run(std::move(words));
  CAPTURE(result.error);
  CHECK(result.code == 2);
  CHECK(result.output.empty());
  CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
  CHECK_THAT(result.error, Catch::Matchers::StartsWith("ingotctl: "));
  return result.error;
}

}  // namespace ingot
