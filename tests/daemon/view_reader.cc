// Reads key "n" of an instance's view in place until standard input ends: `view_reader SOCKET`. Prints "seen N" for
// each new value, and ends with 1 and a line when it sees what cannot be: a value that falls, a revision that falls, an
// entry from after its root. `view_reader SOCKET once` reads once: "seen N", or "refused CODE", an absl::StatusCode.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "replication/view/handle/handle.h"
#include "replication/view/tickets/connect.h"

namespace ingot {
namespace {

int fault(const char* what, long long number) {
  std::printf("%s %lld\n", what, number);
  std::fflush(stdout);
  return 1;
}

int read_once(const std::string& path) {
  auto connection = ViewConnection::open(path);
  if (!connection.ok()) return fault("refused", connection.status().raw_code());
  const auto ticket = connection->take(60'000);
  if (!ticket || !ticket->ok()) return fault("refused", ticket ? ticket->status().raw_code() : 0);
  ViewHandle handle(connect_view(path), {.wait_ms = 60'000}, 1);
  ViewAnswer answer;
  if (handle.get("n", answer) != ViewError::kNone || answer.empty()) return fault("unread", 0);
  std::printf("seen %s\n", std::string(answer[0].value).c_str());
  return 0;
}

bool input_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

int read_on(const std::string& path) {
  ViewHandle handle(connect_view(path), {.wait_ms = 60'000}, 1);
  ViewAnswer answer;
  long long seen = -1;
  ViewRevision revision = 0;
  while (!input_ended()) {
    const ViewError error = handle.get("n", answer);
    if (error != ViewError::kNone) return fault(sentence_of(error), static_cast<long long>(error));
    if (handle.revision() < revision) return fault("revision-fell", handle.revision());
    revision = handle.revision();
    if (answer.empty()) return fault("lost", revision);
    if (answer[0].revision > revision) return fault("from-the-future", answer[0].revision);
    const long long value = std::atoll(std::string(answer[0].value).c_str());
    if (value < seen) return fault("value-fell", value);
    if (value > seen) {
      seen = value;
      std::printf("seen %lld\n", seen);
      std::fflush(stdout);
    }
    ::poll(nullptr, 0, 1);
  }
  return 0;
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") {
    std::puts("usage: view_reader SOCKET [once]\n\nReads key \"n\" of a view in place, for tests: until its input ends,"
              " or once.\nPrints each new value, and what cannot be.");
    return 0;
  }
  if (first.empty() || first[0] == '-') {
    std::fprintf(stderr, "view_reader: give the path of a view socket instead of \"%s\"\n", first.c_str());
    return 2;
  }
  return argc > 2 ? ingot::read_once(first) : ingot::read_on(first);
}
