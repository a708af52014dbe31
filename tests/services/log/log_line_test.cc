#include "services/log/log_line.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "services/log/limits.h"

namespace ingot {
namespace {

LogRecord record(const std::string& text) {
  return {absl::FromUnixMillis(1'772'366'400'007), LogLevel::kWarning, "replica-1", text};
}

TEST_CASE("a line has time, level and process in both formats") {
  CHECK(log_line(LogFormat::kText, record("dies")) == "2026-03-01T12:00:00.007Z warning replica-1: dies\n");
  CHECK(log_line(LogFormat::kJson, record("dies")) ==
        R"({"time":"2026-03-01T12:00:00.007Z","level":"warning","process":"replica-1","message":"dies"})"
        "\n");
}

TEST_CASE("whatever a text holds, it is one line, and JSON is valid") {
  const std::string text = std::string("a\nb\x1b[2J\x7f \"c\" \\ \xff\xfe \xc3\xa9") + '\0';
  CHECK(log_line(LogFormat::kText, record(text)) ==
        "2026-03-01T12:00:00.007Z warning replica-1: a\\nb\\x1b[2J\\x7f \"c\" \\ \\xff\\xfe \xc3\xa9\\x00\n");
  const std::string line = log_line(LogFormat::kJson, record(text));
  CHECK(line.find('\n') == line.size() - 1);
  const std::string message = nlohmann::json::parse(line).at("message");
  CHECK(message.substr(0, 9) == "a\nb\x1b[2J\x7f ");
}

// Regression: a terminal takes U+009B for the begin of an escape sequence, and so may it the byte 0x9b.
TEST_CASE("control characters above ASCII and bytes that are no UTF-8 do not reach a terminal") {
  const std::string text = "a\xc2\x9b" "2J\xc2\x80\xc2\x9f\xc2\xa0\x9b" "b";
  CHECK(log_line(LogFormat::kText, record(text)) ==
        "2026-03-01T12:00:00.007Z warning replica-1: a\\xc2\\x9b2J\\xc2\\x80\\xc2\\x9f\xc2\xa0\\x9bb\n");
  const std::string line = log_line(LogFormat::kJson, record(text));
  for (const char byte : line) CHECK((byte == '\n' || (byte >= ' ' && byte < '\x7f')));
  CHECK(nlohmann::json::parse(line).at("message") == "a\xc2\x9b" "2J\xc2\x80\xc2\x9f\xc2\xa0\xef\xbf\xbd" "b");
}

TEST_CASE("a character is not cut in two") {
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text(before, 'x');
    while (text.size() < kLogLineBytesMax) text += "\xf0\x9f\x98\x80";
    const std::string line = log_line(LogFormat::kText, record(text));
    CHECK(line.find('\\') == std::string::npos);
    CHECK(line.substr(line.size() - 8) == "\xf0\x9f\x98\x80...\n");
  }
}

TEST_CASE("a long text is cut to the length of a line, even if each of its bytes is escaped") {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    for (const char* part : {"x", "\x01", "\xff", "\"", "\xe2\x82\xac"}) {
      for (const std::size_t parts : {std::size_t{300}, kLogLineBytesMax, 10 * kLogLineBytesMax}) {
        std::string text;
        while (text.size() < parts) text += part;
        CAPTURE(format, part, parts);
        const std::string line = log_line(format, record(text));
        CHECK(line.size() <= kLogLineBytesMax);
        CHECK(line.back() == '\n');
        if (parts < kLogLineBytesMax / 6) continue;
        if (line.find("...") == std::string::npos) CHECK(line.size() > parts);
        else CHECK(line.size() > kLogLineBytesMax - 16);
        if (format == LogFormat::kJson) CHECK(nlohmann::json::accept(line));
      }
    }
  }
}

}  // namespace
}  // namespace ingot
