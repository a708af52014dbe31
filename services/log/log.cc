#include "services/log/log.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "services/log/limits.h"
#include "services/log/log_line.h"
#include "services/log/sink.h"

namespace ingot::inline services_log {

namespace {

struct Log {
  std::string process;
  LogFormat format;
  LogThreshold threshold;
  LogSink sink;

  bool takes(LogLevel level) const {
    if (level == LogLevel::kInfo) return threshold <= LogThreshold::kInfo;
    return level == LogLevel::kError || threshold <= LogThreshold::kWarn;
  }

  std::string line(LogLevel level, const std::string& text) const {
    return log_line(format, {absl::Now(), level, process, text});
  }
};

std::atomic<const Log*> started{nullptr};  // lives as long as the process
std::atomic<std::uint64_t> lost{0};
std::atomic<std::uint64_t> unreported{0};  // of the lost ones, those that no line has told of
std::atomic<bool> cut{false};              // the last write ended within a line
std::atomic<Counter*> shown{nullptr};
std::atomic<std::uint64_t> shown_before{0};  // lines that former processes have lost, as `shown` counts them

const Log& this_log() {
  if (const Log* log = started.load(std::memory_order_acquire)) return *log;  // pairs with start_log's release
  static const Log none{"ingotd", LogFormat::kText, LogThreshold::kInfo, LogSink::never_waiting(STDERR_FILENO)};
  return none;
}

std::string lost_sentence(std::uint64_t lines) {
  return lines == 1 ? "1 line was lost: standard error did not take it"
                    : absl::StrCat(lines, " lines were lost: standard error did not take them");
}

void count_lost(std::uint64_t not_told_of) {
  unreported.fetch_add(not_told_of + 1, std::memory_order_relaxed);
  const std::uint64_t all = lost.fetch_add(1, std::memory_order_relaxed) + 1;
  if (Counter* counter = shown.load(std::memory_order_acquire)) {  // pairs with LostLinesShown's release
    counter->raise(shown_before.load(std::memory_order_relaxed) + all);
  }
}

// Both the report of losses and the line go out in one write, or neither does. Only a terminal, a stream socket and a
// full disk may take a part; then the next line begins a new one.
void write(LogLevel level, const std::string& text, int wait_ms) {
  const Log& log = this_log();
  if (!log.takes(level)) return;
  const std::uint64_t not_told_of = unreported.exchange(0, std::memory_order_relaxed);
  const bool within_line = cut.exchange(false, std::memory_order_relaxed);
  std::string out = within_line ? "\n" : "";
  if (not_told_of > 0) out += log.line(LogLevel::kWarning, lost_sentence(not_told_of));
  const std::size_t report_end = out.size();
  out += log.line(level, text);
  if (wait_ms > 0) log.sink.wait_for_room(wait_ms);
  const std::size_t written = log.sink.write(out);
  if (written == out.size()) return;
  cut.store(written > 0 || within_line, std::memory_order_relaxed);
  count_lost(written < report_end ? not_told_of : 0);
}

ssize_t take_printed(void*, const char* bytes, std::size_t size) {
  for (const absl::string_view line : absl::StrSplit(std::string(bytes, size), '\n', absl::SkipEmpty())) {
    log_error(std::string(line));
  }
  return static_cast<ssize_t>(size);
}

// The text as it is. Once a piece had no room, the next ones do not wait.
ssize_t pass_printed(void*, const char* bytes, std::size_t size) {
  static std::atomic<int> wait_ms{kLastLineWaitMs};
  const LogSink& sink = this_log().sink;
  for (std::string_view rest(bytes, size); !rest.empty();) {
    sink.wait_for_room(wait_ms.load(std::memory_order_relaxed));
    const std::size_t written = sink.write(rest.substr(0, kLogLineBytesMax));
    if (written == 0) {
      wait_ms.store(0, std::memory_order_relaxed);
      break;
    }
    rest.remove_prefix(written);
  }
  return static_cast<ssize_t>(size);
}

// glibc's `stderr` is a variable; what is printed to it passes through `write` from now on.
void take_over_stderr(cookie_write_function_t* write) {
  std::FILE* const stream = ::fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  if (stream == nullptr) return;
  std::setvbuf(stream, nullptr, _IOLBF, kLogLineBytesMax);
  stderr = stream;
}

}  // namespace

void bound_stderr() { take_over_stderr(pass_printed); }

void start_log(const std::string& process, LogFormat format, LogThreshold threshold) {
  ::signal(SIGTTOU, SIG_IGN);  // in the background of a terminal with "stty tostop" a write would stop the process
  started.store(new Log{process, format, threshold, LogSink::never_waiting(STDERR_FILENO)},
                std::memory_order_release);
  take_over_stderr(take_printed);
}

void log_info(const std::string& text) { write(LogLevel::kInfo, text, 0); }
void log_warning(const std::string& text) { write(LogLevel::kWarning, text, 0); }
void log_error(const std::string& text) { write(LogLevel::kError, text, 0); }
void log_last(const std::string& text) { write(LogLevel::kError, text, kLastLineWaitMs); }

absl::Status logged(const absl::Status& outcome) {
  if (!outcome.ok()) log_last(std::string(outcome.message()));
  return absl::Status(outcome.code(), "");
}

std::uint64_t log_lines_lost() { return lost.load(std::memory_order_relaxed); }

LostLinesShown::LostLinesShown(Counter& counter) {
  const std::uint64_t before = counter.get();
  shown_before.store(before, std::memory_order_relaxed);
  shown.store(&counter, std::memory_order_release);
  counter.raise(before + log_lines_lost());
}

LostLinesShown::~LostLinesShown() { shown.store(nullptr, std::memory_order_relaxed); }

}  // namespace ingot::services_log
