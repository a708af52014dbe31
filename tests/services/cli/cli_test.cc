#include "services/cli/cli.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/prng.h"
#include "services/cli/duration.h"
#include "services/cli/endpoint.h"
#include "services/cli/table.h"
#include "services/cli/terminal.h"
#include "services/cli/utf8.h"

namespace ingot {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("durations carry a unit") {
  CHECK(parse_duration("250ms").value() == 250ms);
  CHECK(parse_duration("20s").value() == 20s);
  CHECK(parse_duration("1m").value() == 1min);
  CHECK(parse_duration("1m30s").value() == 90s);
  CHECK(parse_duration("1.5h").value() == 90min);
  CHECK(parse_duration("7us").value() == 7us);
  CHECK(parse_duration("0").value() == 0ns);
  for (const char* wrong : {"", "3", "s", "3 s", "3x", "-1s", "inf", "1e9h", "2000000h", "1s 2s", "0x3s"}) {
    CAPTURE(wrong);
    CHECK(parse_duration(wrong).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("a formatted duration reads back as itself") {
  CHECK(format_duration(90s) == "1m30s");
  CHECK(format_duration(0ns) == "0s");
  Prng random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::chrono::nanoseconds duration(random() >> (2 + random.below(50)));
    CAPTURE(duration.count());
    if (duration > 100 * 365 * 24h) continue;
    CHECK(parse_duration(format_duration(duration)).value() == duration);
  }
}

TEST_CASE("addresses are HOST:PORT") {
  CHECK(parse_host_port("127.0.0.1:2379")->port == 2379);
  CHECK(parse_host_port("localhost:0")->host == "localhost");
  CHECK(parse_host_port("[::1]:65535")->host == "::1");
  for (const char* wrong : {"", ":", "2379", ":2379", "h:", "h:65536", "h:-1", "h:+1", "h: 1", "::1:5", "h:1x"}) {
    CAPTURE(wrong);
    CHECK(parse_host_port(wrong).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("an address without a host is refused with what is meant") {
  CHECK(parse_host_port(":2379").status().message() ==
        "':2379' names no host; write 127.0.0.1:2379, or 0.0.0.0:2379 for all addresses of this machine");
}

TEST_CASE("a client's endpoint is HOST:PORT or unix:PATH") {
  const auto parse = [](const std::string& given) {
    CLI::App app;
    std::string endpoint = "127.0.0.1:2379";
    add_endpoint(app, endpoint);
    const std::string flag = "--endpoint=" + given;
    const char* words[] = {"x", flag.c_str()};
    try {
      app.parse(2, words);
    } catch (const CLI::ParseError& error) {
      return std::string("refused: ") + error.what();
    }
    return endpoint;
  };
  CHECK(parse("[::1]:1") == "[::1]:1");
  CHECK(parse("unix:/run/ingot/a.sock") == "unix:/run/ingot/a.sock");
  CHECK(unix_path("unix:/run/ingot/a b.sock") == "/run/ingot/a b.sock");
  CHECK(unix_path("127.0.0.1:1") == std::nullopt);
  const std::string longest = "unix:/" + std::string(106, 'x');
  CHECK(parse(longest) == longest);
  for (const std::string& wrong :
       {std::string("unix:"), std::string("unix:a.sock"), std::string("unix"), longest + "x"}) {
    CHECK_THAT(parse(wrong), Catch::StartsWith("refused: "));
  }
}

TEST_CASE("a table's columns are as wide as their widest cells") {
  Table table({{"name"}, {"n", Table::Align::kRight}, {"end"}});
  table.add_row({"a", "1", ""});
  table.add_row({"größe", "1000", "x"});
  CHECK(table.str() ==
        "NAME      N  END\n"
        "a         1\n"
        "größe  1000  x\n");
}

TEST_CASE("cells show bytes that would break a table") {
  CHECK(printable("plain ünï") == "plain ünï");
  CHECK(printable("a\nb\tc\\") == "a\\nb\\tc\\\\");
  CHECK(printable(std::string("\0\x1b\x7f", 3)) == "\\x00\\x1b\\x7f");
  // C1; U+00A0 is not.
  CHECK(printable("\xc2\x9b" "2J\xc2\x80\xc2\x9f\xc2\xa0") == "\\xc2\\x9b2J\\xc2\\x80\\xc2\\x9f\xc2\xa0");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
}

TEST_CASE("printable UTF-8 has neither control characters nor broken sequences") {
  CHECK(is_printable_utf8("plain ünï \xf0\x9f\x98\x80"));
  for (const char* text : {"a\nb", "\x1b[2J", "\x7f", "\xc2\x85", "\xff", "\xc3", "\xed\xa0\x80"}) {
    CHECK_FALSE(is_printable_utf8(text));
  }
}

TEST_CASE("a table that is too wide loses its less important columns") {
  const auto fitted = [](std::size_t columns) {
    Table table({{"id"}, {"much", Table::Align::kLeft, 1}, {"more", Table::Align::kLeft, 2}});
    table.add_row({"1", "größe", "x"});
    table.fit(columns);
    return table.str();
  };
  CHECK(fitted(15) == "ID  MUCH   MORE\n1   größe  x\n");
  CHECK(fitted(14) == "ID  MUCH\n1   größe\n");
  CHECK(fitted(9) == "ID  MUCH\n1   größe\n");
  CHECK(fitted(8) == "ID\n1\n");
  CHECK(fitted(1) == "ID\n1\n");
}

TEST_CASE("lines are wrapped between words") {
  using Lines = std::vector<std::string>;
  CHECK(wrap("", 10) == Lines{""});
  CHECK(wrap("one two", 7) == Lines{"one two"});
  CHECK(wrap("one two", 6) == Lines{"one", "  two"});
  CHECK(wrap("one  two   three", 8) == Lines{"one  two", "  three"});
  CHECK(wrap("größe größe", 5) == Lines{"größe", "  grö", "  ße"});
  CHECK(wrap("abcdefgh", 3) == Lines{"abc", "def", "gh"});
  CHECK(wrap("  a b", 3) == Lines{"  a", "b"});
  for (std::size_t columns = 1; columns < 30; ++columns) {
    for (const std::string& line : wrap("blocked: replica 1 waits for replica 0:  größer", columns)) {
      CAPTURE(columns, line);
      CHECK(columns_of(line) <= columns);
    }
  }
}

TEST_CASE("a file is no terminal") {
  std::FILE* file = std::tmpfile();
  const Terminal terminal = terminal_at(::fileno(file));
  std::fclose(file);
  CHECK(!terminal.redraws);
  CHECK(!terminal.styles);
}

TEST_CASE("alternatives read like a sentence") {
  CHECK(join_or({"a"}) == "a");
  CHECK(join_or({"a", "b"}) == "a or b");
  CHECK(join_or({"a", "b", "c"}) == "a, b or c");
}

// Runs a small program's command line and captures its standard error.
struct Run {
  int code;
  std::string error;
  int count;
  std::chrono::nanoseconds wait;
  bool ran;
  std::string note;
};

Run run(std::vector<const char*> words, const absl::Status& outcome = absl::OkStatus()) {
  CLI::App app("A program.", "tool");
  app.require_subcommand(1);
  app.fallthrough();
  Run result{0, "", 3, 1s, false, "none given"};
  std::string color = "red";
  app.add_option("--color", color)->check(one_of({"red", "green"}));
  CLI::App* walk = app.add_subcommand("walk");
  walk->add_option("--count", result.count)->check(whole_number(1, 48));
  add_duration(*walk, "--wait", result.wait, "How long");
  walk->add_option("--note", result.note);
  app.add_subcommand("status");
  app.add_subcommand("carry")->add_option("WHAT", result.note)->required();
  words.insert(words.begin(), "/usr/bin/tool");

  const std::string file = std::string(std::getenv("TEST_TMPDIR")) + "/stderr";
  std::fflush(stderr);
  const int saved = ::dup(STDERR_FILENO);
  REQUIRE(std::freopen(file.c_str(), "w", stderr) != nullptr);
  result.code = run_cli(app, static_cast<int>(words.size()), words.data(), [&] {
    result.ran = true;
    return outcome;
  });
  std::fflush(stderr);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  result.error = text.str();
  return result;
}

TEST_CASE("a valid command line runs once and its outcome is the exit code") {
  const Run right = run({"walk", "--count=48", "--wait=250ms", "--color", "green"});
  CHECK(right.code == 0);
  CHECK(right.error == "");
  CHECK(right.count == 48);
  CHECK(right.wait == 250ms);
  CHECK(right.ran);
  CHECK(run({"walk"}, absl::UnavailableError("nobody is there")).code == 1);
  CHECK(run({"walk"}, absl::UnavailableError("nobody is there")).error == "tool: nobody is there\n");
  CHECK(run({"walk"}, absl::AlreadyExistsError("taken")).code == 2);
  CHECK(run({"walk"}, absl::FailedPreconditionError("other flags")).code == 2);
  CHECK(run({"walk"}, absl::DataLossError("")).error == "");
  CHECK(run({"walk"}, absl::DataLossError("")).code == 1);
}

TEST_CASE("an empty value after = is the flag's value; it was the next word's, unless the value is a text") {
  const Run empty = run({"walk", "--note=", "--count=2"});
  CHECK(empty.code == 0);
  CHECK(empty.note == "");
  CHECK(empty.count == 2);
  CHECK(run({"walk", "--note=--count="}).note == "--count=");
  CHECK(run({"walk", "--color="}).error ==
        "tool: --color: '' is not known here; use red or green (see tool walk --help)\n");
  CHECK(run({"walk", "--count=", "5"}).error ==
        "tool: --count: '' will not do; give a whole number, 1 to 48 (see tool walk --help)\n");
  CHECK(run({"walk", "--wait=", "5s"}).code == 2);
}

TEST_CASE("a wrong command line is explained in one line, and nothing runs") {
  const auto wrong = [](std::vector<const char*> words) {
    const Run result = run(std::move(words));
    CHECK(result.code == 2);
    CHECK(!result.ran);
    CHECK(std::count(result.error.begin(), result.error.end(), '\n') == 1);
    return result.error;
  };
  CHECK(wrong({"walk", "--cuont=3"}) == "tool: unknown flag --cuont, did you mean --count? (see tool walk --help)\n");
  CHECK(wrong({"walk", "--colour=red"}) ==
        "tool: unknown flag --colour, did you mean --color? (see tool walk --help)\n");
  CHECK(wrong({"walk", "--zzzzzzzz"}) == "tool: unknown flag --zzzzzzzz (see tool walk --help)\n");
  CHECK(wrong({"wlak"}) == "tool: unknown command wlak, did you mean walk? (see tool --help)\n");
  CHECK(wrong({"walk", "far"}) == "tool: unexpected argument far (see tool walk --help)\n");
  CHECK_THAT(wrong({}), Contains("a command is missing; give one of walk, status, carry"));
  CHECK_THAT(wrong({"carry"}), Contains("WHAT is required"));
  CHECK(wrong({"carry", "--fast"}) == "tool: unknown flag --fast (see tool carry --help)\n");  // not "WHAT is required"
  CHECK_THAT(wrong({"walk", "--count=49"}), Contains("--count: '49' will not do; give a whole number, 1 to 48"));
  CHECK_THAT(wrong({"walk", "--count=three"}), Contains("--count: 'three' will not do"));
  CHECK_THAT(wrong({"walk", "--wait=3"}), Contains("--wait: '3' is not a duration"));
  CHECK_THAT(wrong({"walk", "--color=blue"}), Contains("--color: 'blue' is not known here; use red or green"));
  CHECK_THAT(wrong({"walk", "--count"}), Contains("--count"));
  CHECK_THAT(wrong({"walk", "--color=a\nb"}), Contains("--color: 'a\\nb' is not known here"));
}

}  // namespace
}  // namespace ingot
