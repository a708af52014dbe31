#include "services/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "services/cli/utf8.h"

namespace ingot::inline services_cli {
namespace {

// Levenshtein's distance: the number of letters to change, add or remove.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i));
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

// The subcommand given on the command line, or the program itself if there is none.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  return used.empty() ? app : chosen(*used.front());
}

std::vector<std::string> known_words(const CLI::App& app, bool flags) {
  std::vector<std::string> words;
  if (flags) {
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    if (app.get_parent() != nullptr) {
      for (std::string& word : known_words(*app.get_parent(), true)) words.push_back(std::move(word));
    }
  } else {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      words.push_back(command->get_name());
  }
  return words;
}

// "; did you mean --listen?" if a known word is close enough to be a typing error, else nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(given, a) < edit_distance(given, b);
  };
  const auto nearest = std::min_element(known.begin(), known.end(), closer);
  if (nearest == known.end() || edit_distance(given, *nearest) > 3) return "";
  return absl::StrCat(", did you mean ", *nearest, "?");
}

std::string explain_extra(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return "there is an argument too many";
  const std::string word = extras.front().substr(0, extras.front().find('='));
  const bool is_flag = absl::StartsWith(word, "-");
  const CLI::App& command = chosen(app);
  const bool wants_command = !is_flag && !known_words(command, false).empty();
  const char* kind = is_flag ? "unknown flag " : wants_command ? "unknown command " : "unexpected argument ";
  return absl::StrCat(kind, word, did_you_mean(word, known_words(command, is_flag)));
}

std::string explain_missing_command(const CLI::App& app) {
  return absl::StrCat("a command is missing; give one of ", absl::StrJoin(known_words(chosen(app), false), ", "));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::string what = error.what();
  // CLI11 reports a missing command, flag or argument before a misspelt one.
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (extra || (missing && !app.remaining(true).empty())) return explain_extra(app);
  if (what == "A subcommand is required") return explain_missing_command(app);
  // CLI11: "Could not convert: --replicas = three".
  if (absl::StartsWith(what, "Could not convert: ")) {
    const std::vector<std::string> sides = CLI::detail::split(what.substr(what.find(": ") + 2), '=');
    if (sides.size() == 2) {
      return absl::StrCat(absl::StripSuffix(sides[0], " "), " wants a number, not '", absl::StripPrefix(sides[1], " "),
                          "'");
    }
  }
  return what;
}

int report(const std::string& program, const std::string& sentence, int code) {
  if (!sentence.empty()) std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(sentence).c_str());
  return code;
}

bool takes_value(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  if (option != nullptr) return option->get_items_expected_max() > 0;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return takes_value(*command, flag); });
}

// CLI11 takes "--flag=" for a flag without its value, which it looks for in the next word. Such a flag is given the
// empty value: "--flag" and "".
std::vector<std::string> with_empty_values(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool flags = true;  // until "--"
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    flags = flags && word != "--";
    const bool empty = flags && absl::StartsWith(word, "--") && word.find('=') == word.size() - 1;
    const std::string flag = word.substr(0, word.size() - 1);
    if (empty && takes_value(app, flag)) {
      words.insert(words.end(), {flag, ""});
    } else {
      words.push_back(word);
    }
  }
  return words;
}

void parse(CLI::App& app, int argc, const char* const* argv) {
  const std::vector<std::string> words = with_empty_values(app, argc, argv);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  app.parse(static_cast<int>(pointers.size()), pointers.data());
}

// The name by which the program was called, without folders.
std::string program_name(int argc, const char* const* argv) {
  const std::string path = argc > 0 ? argv[0] : "ingot";
  return path.substr(path.rfind('/') + 1);
}

std::string help_hint(const CLI::App& app, const std::string& program) {
  std::string words = program;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    absl::StrAppend(&words, " ", at->get_name());
  }
  return absl::StrCat(" (see ", words, " --help)");
}

}  // namespace

int exit_code(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return kExitUsage;
    default:
      return kExitFailed;
  }
}

absl::Status flush_output() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout.good() && std::ferror(stdout) == 0) return absl::OkStatus();
  // The cause is unknown if an earlier write failed, and this one did not.
  const std::string cause = errno != 0 ? absl::StrCat(": ", std::strerror(errno)) : "";
  return absl::DataLossError(absl::StrCat("standard output did not take all of the output", cause));
}

int run_cli(CLI::App& app, int argc, const char* const* argv, absl::FunctionRef<absl::Status()> body) {
  const std::string program = program_name(argc, argv);
  try {
    parse(app, argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    app.exit(asked_for_help, std::cout, std::cerr);
    const absl::Status status = flush_output();
    return report(program, std::string(status.message()), exit_code(status));
  } catch (const CLI::ParseError& error) {
    return report(program, explain(app, error) + help_hint(app, program), kExitUsage);
  }
  try {
    absl::Status status = body();
    if (status.ok()) status = flush_output();
    return report(program, std::string(status.message()), exit_code(status));
  } catch (const std::exception& error) {
    return report(program, error.what(), kExitFailed);
  }
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& given) { return fault_in_choice(given, words); };
  return CLI::Validator(check, absl::StrJoin(words, "|"));
}

CLI::Validator whole_number(std::int64_t min, std::int64_t max) {
  return CLI::Validator([min, max](const std::string& given) { return fault_in_number(given, min, max); }, "");
}

}  // namespace ingot::services_cli
