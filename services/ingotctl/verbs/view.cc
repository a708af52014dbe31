#include "services/ingotctl/verbs/view.h"

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "services/ingotctl/render/view.h"
#include "services/ingotctl/verbs/open_view.h"

namespace ingot::inline services_ingotctl_verbs {
namespace {

constexpr int kAgeWaitMs = 500;  // for the publisher to learn how old the view is
constexpr int kAgeLookMs = 5;

// All of it at one root.
ViewError read_range(ViewHandle& handle, const etcdserverpb::RangeRequest& request, ViewAnswer& answer,
                     std::uint64_t& count) {
  const std::string_view zero("\0", 1);
  ViewRange range;
  if (request.key() != zero) range.begin = request.key();
  if (request.range_end() != zero) range.end = request.range_end();
  if (request.count_only()) return handle.count(range.begin, range.end, count);
  if (request.limit() > 0) range.limit = static_cast<std::size_t>(request.limit());
  return handle.range(range, answer, count);
}

absl::Status run_view(const CtlOptions& options) {
  auto view = open_view(options);
  if (!view.ok()) return view.status();
  ViewHandle& handle = *view->handle;
  view->connection.ask_age();
  if (auto status = status_of(handle.wait_for(0, wait_ms(options)), handle); !status.ok()) return status;
  ViewShown shown;
  if (auto status = status_of(handle.count("", "", shown.keys), handle); !status.ok()) return status;
  for (int waited = 0; waited < kAgeWaitMs && !shown.age_ms; waited += kAgeLookMs) {
    shown.age_ms = handle.age_ms();
    if (!shown.age_ms) std::this_thread::sleep_for(std::chrono::milliseconds(kAgeLookMs));
  }
  shown.revision = handle.revision();
  const BoardReader* const board = handle.board();
  if (board == nullptr) return absl::UnavailableError(sentence_of(ViewError::kNoView));
  shown.state = board->state();
  shown.publisher = board->publisher();
  shown.identity = board->identity();
  if (const auto generation = board->generation()) shown.generation = *generation;
  print_view(shown, options.json());
  return absl::OkStatus();
}

}  // namespace

absl::Status read_view(const CtlOptions& options, const etcdserverpb::RangeRequest& request,
                       etcdserverpb::RangeResponse& response) {
  auto view = open_view(options);
  if (!view.ok()) return view.status();
  ViewHandle& handle = *view->handle;
  ViewAnswer answer;
  ViewError error = ViewError::kNone;
  std::uint64_t count = 0;
  if (request.range_end().empty()) {
    error = handle.get(request.key(), answer);
    count = answer.size();
  } else {
    error = read_range(handle, request, answer, count);
  }
  if (auto status = status_of(error, handle); !status.ok()) return status;
  if (answer.more() && request.limit() <= 0) {
    return absl::OutOfRangeError(absl::StrCat("the keys have more than the ", ViewRange().bytes_max,
                                              " bytes that are read in place at once; read them by parts with --limit, "
                                              "or without --view"));
  }
  if (!request.count_only()) {
    for (std::size_t i = 0; i < answer.size(); ++i) *response.add_kvs() = key_value_of(answer[i]);
  }
  response.mutable_header()->set_revision(handle.revision());
  response.set_count(static_cast<std::int64_t>(count));
  response.set_more(answer.more());
  return absl::OkStatus();
}

void register_view(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("view", "Show the instance's view, which processes read in place");
  command->footer(
      "Examples:\n"
      "  ingotctl view              # begins it, with ingotd --view=auto\n"
      "  ingotctl view -o json\n"
      "  ingotctl get --view config/ --prefix");
  command->callback([&chosen] { chosen = run_view; });
}

}  // namespace ingot::services_ingotctl_verbs
