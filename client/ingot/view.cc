#include "client/ingot/view.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingot/instance_sockets.h"
#include "replication/view/tickets/limits.h"
#include "transport/host/kernel_random.h"

namespace ingot::inline client_ingot {

namespace {

constexpr std::int64_t kMsNs = 1'000'000;

// Whether the last ticket has to do with it.
bool by_refusal(ingot_error error) {
  return error == INGOT_NO_DAEMON || error == INGOT_NOT_ALLOWED || error == INGOT_OTHER_LAYOUT ||
         error == INGOT_TOO_LARGE || error == INGOT_EXHAUSTED;
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// ---- Opening --------------------------------------------------------------------------------------------------------

ClientView::ClientView(std::vector<std::string> paths, ViewConnection first, const ingot_options& options)
    : options_(options),
      link_(paths, draw_random_u64()),
      handle_(connect_view(std::move(paths), std::move(first)), demands(options.timeout_ms), draw_random_u64()) {}

std::unique_ptr<ClientView> ClientView::open(std::string_view instance, const ingot_options& options,
                                             Failure& failure) {
  const std::int64_t deadline_ns = monotonic_ns() + options.open_timeout_ms * kMsNs;
  auto paths = view_sockets_of(instance);
  if (!paths.ok()) {
    const bool wrong = absl::IsInvalidArgument(paths.status());
    failure = {wrong ? INGOT_INVALID : INGOT_NO_DAEMON, std::string(paths.status().message())};
    return nullptr;
  }
  auto first = ViewConnection::open_first(*paths);
  if (!first.ok()) {
    failure = {error_of_refusal(first.status()), std::string(first.status().message())};
    return nullptr;
  }
  auto view = std::unique_ptr<ClientView>(new ClientView(*std::move(paths), *std::move(first), options));
  const ingot_error error = view->wait_for_first(deadline_ns);
  if (error == INGOT_OK) return view;
  failure = {error, view->message()};
  return nullptr;
}

// A publisher that ended before it gave a view is followed by another one.
ingot_error ClientView::wait_for_first(std::int64_t deadline_ns) {
  ViewError error = handle_.wait_for(0, 0);
  for (std::int64_t now_ns = monotonic_ns(); error != ViewError::kNone; now_ns = monotonic_ns()) {
    const absl::Status& refusal = handle_.refusal();
    const bool final = !refusal.ok() && !absl::IsUnavailable(refusal);
    if (final || now_ns >= deadline_ns) return fail(error);
    error = handle_.wait_for(0, std::clamp<std::int64_t>((deadline_ns - now_ns) / kMsNs, 0, kOpenSliceMs));
  }
  if (options_.age_max_ms < 0) return INGOT_OK;
  link_.want_age();
  link_.advance(monotonic_ns());
  return INGOT_OK;
}

void ClientView::set_timeout(std::int64_t timeout_ms) {
  options_.timeout_ms = timeout_ms;
  handle_.set_demands(demands(timeout_ms));
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

bool ClientView::closed() const {
  const BoardReader* const board = handle_.board();
  return board != nullptr && board->state() == BoardState::kClosed;
}

ingot_error ClientView::fail(ingot_error error) noexcept {
  text_ = ingot_error_text(error);
  return error;
}

ingot_error ClientView::fail(ingot_error error, std::string_view message) noexcept {
  try {
    message_ = message;
    text_ = message_.c_str();
    return error;
  } catch (...) {
    return fail(error);
  }
}

ingot_error ClientView::fail(ViewError error) {
  const ingot_error reported = error_of_read(error, handle_.refusal(), closed());
  if (reported == INGOT_CLOSED) return fail(reported);
  if (error != ViewError::kTooLong && by_refusal(reported)) return fail_refused(handle_.refusal());
  return fail(reported, sentence_of(error));
}

ingot_error ClientView::fail_refused(const absl::Status& refusal) {
  const ingot_error error = error_of_refusal(refusal);
  return refusal.message().empty() ? fail(error) : fail(error, std::string(refusal.message()));
}

// ---- What needs a connection ----------------------------------------------------------------------------------------

void ClientView::enter_process() {
  if (fork_mark_.is_new_process()) link_.forget();
}

// Moves handle and connection on. An error: no change will come to this view any more.
ingot_error ClientView::step() {
  const ViewError error = handle_.wait_for(0, 0);
  if (error == ViewError::kAnotherInstance) return fail(error);
  if (link_.identity() != 0 && identity() != 0 && link_.identity() != identity()) {
    return fail(ViewError::kAnotherInstance);
  }
  return closed() ? fail(INGOT_CLOSED) : INGOT_OK;
}

// INGOT_OK: the wait has ended, by a change or by an answer to an earlier wait. A change is in the newest root, but the
// handle may still read the generation before: it gets a moment to go over to the newest. No revision is demanded of
// later reads, so a caller who finds nothing new waits again.
ingot_error ClientView::wait_once(std::string_view prefix, std::int64_t after_revision, std::int64_t timeout_ms) {
  const bool ended = link_.wait(prefix, after_revision, monotonic_ns());
  if (const ingot_error error = step(); error != INGOT_OK) return error;
  if (ended) {
    const std::int64_t next = std::min(after_revision, std::numeric_limits<std::int64_t>::max() - 1) + 1;
    (void)handle_.wait_for(next, timeout_ms < 0 ? kEndedWaitMs : std::min(timeout_ms, kEndedWaitMs));
    return INGOT_OK;
  }
  if (link_.failure().ok()) return fail(INGOT_TIMED_OUT);
  return fail_refused(link_.failure());
}

ingot_error ClientView::wait(std::string_view prefix, std::int64_t after_revision, std::int64_t timeout_ms) {
  if (prefix.size() > kWaitPrefixBytesMax || after_revision < 0 || timeout_ms < -1) {
    return fail(INGOT_INVALID, absl::StrCat("a wait has a prefix of at most ", kWaitPrefixBytesMax,
                                            " bytes, a revision from 0 on, and a timeout from -1 on"));
  }
  enter_process();
  const std::int64_t begin_ns = monotonic_ns();
  for (;;) {
    const ingot_error error = wait_once(prefix, after_revision, timeout_ms);
    if (error != INGOT_TIMED_OUT && error != INGOT_NO_DAEMON) return error;
    const std::int64_t now_ns = monotonic_ns();
    const std::int64_t left_ms = timeout_ms < 0 ? -1 : timeout_ms - (now_ns - begin_ns) / kMsNs;
    if (timeout_ms >= 0 && left_ms <= 0) return error;
    link_.poll(now_ns, left_ms);
  }
}

int ClientView::wait_fd() {
  enter_process();
  return link_.fd();
}

ingot_error ClientView::age(std::int64_t& age_ms) {
  enter_process();
  link_.want_age();
  const std::int64_t deadline_ns = monotonic_ns() + options_.timeout_ms * kMsNs;
  for (;;) {
    const std::int64_t now_ns = monotonic_ns();
    link_.advance(now_ns);
    if (const ingot_error error = step(); error != INGOT_OK) return error;
    if (const auto age = handle_.age_ms()) {
      age_ms = *age;
      return INGOT_OK;
    }
    if (now_ns >= deadline_ns) return link_.failure().ok() ? fail(INGOT_TIMED_OUT) : fail_refused(link_.failure());
    link_.poll(now_ns, std::min((deadline_ns - now_ns) / kMsNs, kAgeSliceMs));
  }
}

}  // namespace ingot::client_ingot
