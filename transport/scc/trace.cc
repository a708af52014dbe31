#include "transport/scc/trace.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/scc/geometry.h"

namespace ingot::scc::inline transport_scc {
namespace {

absl::Status file_error(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat("cannot write the trace file ", path, ": ", std::strerror(error)));
}

// Times are printed as microseconds with six decimals, by integer arithmetic: exact, and the same on every machine.
constexpr std::uint64_t kPerMicrosecond = 1'000'000;

}  // namespace

TraceFile::TraceFile(std::FILE* file, std::string path, std::uint64_t events_max)
    : file_(file), path_(std::move(path)), events_left_(events_max) {
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file_);
  for (int core = 0; core < kCores; ++core) {
    std::fprintf(file_,
                 "%s{\"ph\":\"M\",\"pid\":0,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"core %d\"}}",
                 core == 0 ? "" : ",\n", core, core);
  }
}

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::create(const std::string& path, std::uint64_t events_max) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return file_error(path, errno);
  return std::unique_ptr<TraceFile>(new TraceFile(file, path, events_max));
}

TraceFile::~TraceFile() { finish().IgnoreError(); }

bool TraceFile::take() {
  if (file_ == nullptr) return false;
  if (events_left_ == 0) {
    ++events_dropped_;
    return false;
  }
  --events_left_;
  return true;
}

void TraceFile::span(int core, const char* name, Picoseconds from, Picoseconds to) {
  if (!take()) return;
  const Picoseconds took = to - from;
  std::fprintf(file_,
               ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"name\":\"%s\",\"ts\":%" PRIu64 ".%06" PRIu64 ",\"dur\":%" PRIu64
               ".%06" PRIu64 "}",
               core, name, from / kPerMicrosecond, from % kPerMicrosecond, took / kPerMicrosecond,
               took % kPerMicrosecond);
}

void TraceFile::begin(int core, const char* name, Picoseconds at) {
  if (!take()) return;
  std::fprintf(file_, ",\n{\"ph\":\"B\",\"pid\":0,\"tid\":%d,\"name\":\"%s\",\"ts\":%" PRIu64 ".%06" PRIu64 "}", core,
               name, at / kPerMicrosecond, at % kPerMicrosecond);
}

void TraceFile::end(int core, Picoseconds at) {
  if (!take()) return;
  std::fprintf(file_, ",\n{\"ph\":\"E\",\"pid\":0,\"tid\":%d,\"ts\":%" PRIu64 ".%06" PRIu64 "}", core,
               at / kPerMicrosecond, at % kPerMicrosecond);
}

absl::Status TraceFile::finish() {
  if (file_ == nullptr) return absl::OkStatus();
  std::fprintf(file_, "\n],\"otherData\":{\"events_dropped\":%" PRIu64 "}}\n", events_dropped_);
  const bool failed = std::ferror(file_) != 0 || std::fflush(file_) != 0;
  const int error = errno;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) return file_error(path_, errno);
  return failed ? file_error(path_, error) : absl::OkStatus();
}

}  // namespace ingot::scc::transport_scc
