#include "client/ingot/errors.h"

namespace ingot::inline client_ingot {

namespace {

struct ErrorText {
  ingot_error error;
  const char* name;
  const char* text;
};

// docs/libingot.md#errors has the same rows, which a test compares.
constexpr ErrorText kErrors[] = {
    {INGOT_OK, "ok", "no error"},
    {INGOT_NOT_FOUND, "not_found", "there is no such key"},
    {INGOT_NO_DAEMON, "no_daemon", "no instance gives a view there; is ingotd running?"},
    {INGOT_NOT_ALLOWED, "not_allowed", "this user may not read the view; ingotd --view-users says who may"},
    {INGOT_OTHER_IDENTITY, "other_identity",
     "the instance has begun anew with another state; close this view, and open another one"},
    {INGOT_OTHER_LAYOUT, "other_layout",
     "what answers there has no view that this library reads; use a library of the instance's version"},
    {INGOT_TOO_OLD, "too_old", "the view no longer has all changes since that revision; read the keys anew"},
    {INGOT_TOO_STALE, "too_stale", "the state may be older than the view's options allow, or its age is not known"},
    {INGOT_TOO_LARGE, "too_large", "the answer would be larger than allowed; read fewer keys at a time, or allow more"},
    {INGOT_CLOSED, "closed", "the instance was stopped, or this view was closed"},
    {INGOT_TIMED_OUT, "timed_out", "it did not come within the time allowed"},
    {INGOT_DAMAGED, "damaged", "the view's memory holds what no instance writes; the library asks for another one"},
    {INGOT_EXHAUSTED, "exhausted", "there is no memory, file descriptor or connection left; try again later"},
    {INGOT_INVALID, "invalid", "an argument is wrong"},
};

const ErrorText* find(ingot_error error) {
  for (const ErrorText& row : kErrors) {
    if (row.error == error) return &row;
  }
  return nullptr;
}

}  // namespace

ingot_error error_of_refusal(const absl::Status& refusal) {
  switch (refusal.code()) {
    case absl::StatusCode::kPermissionDenied: return INGOT_NOT_ALLOWED;
    case absl::StatusCode::kInvalidArgument: return INGOT_OTHER_LAYOUT;
    case absl::StatusCode::kOutOfRange: return INGOT_TOO_LARGE;
    case absl::StatusCode::kResourceExhausted: return INGOT_EXHAUSTED;
    default: return INGOT_NO_DAEMON;
  }
}

ingot_error error_of_read(ViewError error, const absl::Status& refusal, bool closed) {
  switch (error) {
    case ViewError::kNone: return INGOT_OK;
    case ViewError::kTooStale: return closed ? INGOT_CLOSED : INGOT_TOO_STALE;
    case ViewError::kTooLong: return INGOT_TOO_LARGE;
    case ViewError::kTooOld: return INGOT_TOO_OLD;
    case ViewError::kAnotherInstance: return INGOT_OTHER_IDENTITY;
    case ViewError::kForeign: return INGOT_OTHER_LAYOUT;
    case ViewError::kDamaged: return INGOT_DAMAGED;
    case ViewError::kNoView:
    case ViewError::kBehind: break;
  }
  if (closed) return INGOT_CLOSED;
  return refusal.ok() ? INGOT_TIMED_OUT : error_of_refusal(refusal);
}

}  // namespace ingot::client_ingot

const char* ingot_error_text(ingot_error error) {
  const auto* const row = ingot::find(error);
  return row == nullptr ? "an error that this library does not know" : row->text;
}

const char* ingot_error_name(ingot_error error) {
  const auto* const row = ingot::find(error);
  return row == nullptr ? "unknown" : row->name;
}
