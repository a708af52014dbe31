// What a handle of ingot.h stands for: a reader's handle, and the connection for what a reader cannot do alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingot/errors.h"
#include "client/ingot/ingot.h"
#include "client/ingot/limits.h"
#include "client/ingot/wait_link.h"
#include "replication/view/generation/answer.h"
#include "replication/view/handle/fork_mark.h"
#include "replication/view/handle/handle.h"

namespace ingot::inline client_ingot {

std::int64_t monotonic_ns();

// Not thread-safe. Calls that end with an error leave a sentence in message(), until the next one that does.
class ClientView {
 public:
  struct Failure {
    ingot_error error;
    std::string message;
  };

  // As ingot_open; null: `failure` says why.
  static std::unique_ptr<ClientView> open(std::string_view instance, const ingot_options& options, Failure& failure);

  // A read by the handle: `read` is called with it, once or several times.
  template <typename Read>
  ingot_error read(const Read& read) {
    const ViewError error = options_.age_max_ms < 0 ? read(handle_) : read_within_age(read);
    return error == ViewError::kNone ? INGOT_OK : fail(error);
  }

  ingot_error wait(std::string_view prefix, std::int64_t after_revision, std::int64_t timeout_ms);
  int wait_fd();
  ingot_error age(std::int64_t& age_ms);

  void set_timeout(std::int64_t timeout_ms);
  void require(std::int64_t revision) { handle_.require(revision); }
  std::int64_t revision() const { return handle_.revision(); }
  std::uint64_t identity() const { return handle_.identity(); }
  std::size_t answer_size_max() const { return options_.answer_size_max; }

  ViewAnswer& got() { return got_; }  // of ingot_get
  const char* message() const { return text_; }
  ingot_error fail(ingot_error error) noexcept;
  ingot_error fail(ingot_error error, std::string_view message) noexcept;

 private:
  ClientView(std::vector<std::string> paths, ViewConnection first, const ingot_options& options);

  ingot_error wait_for_first(std::int64_t deadline_ns);
  ingot_error fail(ViewError error);
  ingot_error fail_refused(const absl::Status& refusal);
  ingot_error step();
  ingot_error wait_once(std::string_view prefix, std::int64_t after_revision, std::int64_t timeout_ms);
  void enter_process();
  bool closed() const;
  static bool may_come(ViewError error) {
    return error == ViewError::kTooStale || error == ViewError::kBehind || error == ViewError::kNoView;
  }
  ViewDemands demands(std::int64_t wait_ms) const { return {.wait_ms = wait_ms, .age_max_ms = options_.age_max_ms}; }

  // The connection that keeps the age known is looked after between tries, so the handle waits for slices only.
  template <typename Read>
  ViewError read_within_age(const Read& read) {
    enter_process();
    const std::int64_t deadline_ns = monotonic_ns() + options_.timeout_ms * 1'000'000;
    handle_.set_demands(demands(std::min(options_.timeout_ms, kAgeSliceMs)));
    ViewError error = read(handle_);
    for (std::int64_t now_ns = monotonic_ns(); may_come(error) && now_ns < deadline_ns; now_ns = monotonic_ns()) {
      link_.advance(now_ns);
      error = read(handle_);
    }
    return error;
  }

  ingot_options options_;
  WaitLink link_;
  ViewHandle handle_;
  ForkMark fork_mark_;
  ViewAnswer got_;
  std::string message_;
  const char* text_ = "";  // message_, or a constant
};

}  // namespace ingot::client_ingot
