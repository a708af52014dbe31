// The C interface: checks of arguments, and nothing thrown.
#include "client/ingot/ingot.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/ingot/view.h"

struct ingot_view {
  std::unique_ptr<ingot::ClientView> view;
};

struct ingot_answer {
  ingot::ViewAnswer entries;
  std::vector<std::size_t> places;  // of ingot_get_several: where in entries each key is; kMissing: it is not
  bool several = false;
  bool more = false;
  std::int64_t revision = 0;
};

namespace {

constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();

bool is_bytes(const char* data, std::size_t size) { return data != nullptr || size == 0; }

std::string_view bytes(const char* data, std::size_t size) {
  return size == 0 ? std::string_view() : std::string_view(data, size);
}

constexpr const char* kNoBytes = "a null pointer stands where there should be bytes";
constexpr const char* kNoPlace = "a null pointer stands where the result should be put";

// The library's memory is not to be had: an error like others. `view` may be null.
template <typename Call>
ingot_error guarded(ingot_view* view, const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return view == nullptr ? INGOT_EXHAUSTED : view->view->fail(INGOT_EXHAUSTED);
  }
}

void show(const ingot::ViewEntry& entry, ingot_entry& shown) {
  shown = {entry.key.data(), entry.key.size(), entry.value.data(), entry.value.size(), entry.revision,
           entry.created,    entry.version,    entry.lease,        entry.deleted ? 1 : 0};
}

void clear(ingot_answer& answer) {
  answer.entries.clear();
  answer.places.clear();
  answer.several = answer.more = false;
  answer.revision = 0;
}

// A read into an answer, with the checks that all of them need.
template <typename Read>
ingot_error read_into(ingot_view* view, ingot_answer* answer, bool valid, const Read& read) noexcept {
  if (answer != nullptr) clear(*answer);
  if (view == nullptr) return INGOT_CLOSED;
  if (answer == nullptr) return view->view->fail(INGOT_INVALID, kNoPlace);
  if (!valid) return view->view->fail(INGOT_INVALID, kNoBytes);
  const ingot_error error = guarded(view, [&] {
    const ingot_error got = view->view->read([&](ingot::ViewHandle& handle) { return read(handle, answer->entries); });
    if (got == INGOT_OK) answer->revision = view->view->revision();
    return got;
  });
  if (error != INGOT_OK) clear(*answer);
  return error;
}

ingot_error read_range(ingot_view* view, const ingot::ViewRange& range, std::size_t limit, bool valid,
                       ingot_answer* answer) noexcept {
  const ingot_error error = read_into(view, answer, valid, [&](ingot::ViewHandle& handle, ingot::ViewAnswer& entries) {
    ingot::ViewRange bounded = range;
    if (limit != 0) bounded.limit = limit;
    bounded.bytes_max = view->view->answer_size_max();
    return handle.range(bounded, entries);
  });
  if (error != INGOT_OK) return error;
  answer->more = answer->entries.more();
  if (limit != 0 || !answer->more) return INGOT_OK;
  clear(*answer);
  return view->view->fail(INGOT_TOO_LARGE, "the keys of the range take more than answer_size_max; give a limit");
}

ingot_error count_range(ingot_view* view, std::string_view begin, std::string_view end, bool valid,
                        std::uint64_t* count) noexcept {
  if (count != nullptr) *count = 0;
  if (view == nullptr) return INGOT_CLOSED;
  if (count == nullptr) return view->view->fail(INGOT_INVALID, kNoPlace);
  if (!valid) return view->view->fail(INGOT_INVALID, kNoBytes);
  return guarded(view, [&] {
    return view->view->read([&](ingot::ViewHandle& handle) { return handle.count(begin, end, *count); });
  });
}

void write_message(std::string_view text, char* message, std::size_t message_size) {
  if (message == nullptr || message_size == 0) return;
  const std::size_t size = std::min(text.size(), message_size - 1);
  std::memcpy(message, text.data(), size);
  message[size] = '\0';
}

// Options of a later header have further fields behind those that are known here.
bool take_options(const ingot_options* given, ingot_options& options) {
  if (given != nullptr) {
    if (given->size < sizeof options) return false;
    options = *given;
  }
  if (options.open_timeout_ms < 0 || options.timeout_ms < 0 || options.age_max_ms < -1) return false;
  options.open_timeout_ms = std::min(options.open_timeout_ms, ingot::kTimeoutMsMax);
  options.timeout_ms = std::min(options.timeout_ms, ingot::kTimeoutMsMax);
  options.age_max_ms = std::min(options.age_max_ms, ingot::kTimeoutMsMax);
  return options.answer_size_max > 0;
}

}  // namespace

const char* ingot_version(void) { return INGOT_VERSION; }

// ---- Opening --------------------------------------------------------------------------------------------------------

ingot_error ingot_open(const char* instance, const ingot_options* options, ingot_view** view, char* message,
                       std::size_t message_size) {
  if (view == nullptr) return INGOT_INVALID;
  *view = nullptr;
  write_message(ingot_error_text(INGOT_EXHAUSTED), message, message_size);
  return guarded(nullptr, [&] {
    ingot_options taken = INGOT_OPTIONS_INIT;
    ingot::ClientView::Failure failure{INGOT_INVALID,
                                       "the options are not those of INGOT_OPTIONS_INIT with times from 0 on"};
    if (take_options(options, taken)) {
      auto opened = ingot::ClientView::open(instance == nullptr ? "" : instance, taken, failure);
      if (opened != nullptr) {
        *view = new ingot_view{std::move(opened)};
        write_message("", message, message_size);
        return INGOT_OK;
      }
    }
    write_message(failure.message, message, message_size);
    return failure.error;
  });
}

void ingot_close(ingot_view* view) { delete view; }

const char* ingot_message(const ingot_view* view) {
  return view == nullptr ? ingot_error_text(INGOT_CLOSED) : view->view->message();
}

ingot_error ingot_set_timeout(ingot_view* view, std::int64_t timeout_ms) {
  if (view == nullptr) return INGOT_CLOSED;
  if (timeout_ms < 0) return view->view->fail(INGOT_INVALID, "a read's timeout is 0 or more");
  view->view->set_timeout(std::min(timeout_ms, ingot::kTimeoutMsMax));
  return INGOT_OK;
}

// ---- Answers --------------------------------------------------------------------------------------------------------

ingot_answer* ingot_answer_new(void) { return new (std::nothrow) ingot_answer; }

void ingot_answer_free(ingot_answer* answer) { delete answer; }

std::size_t ingot_answer_count(const ingot_answer* answer) {
  if (answer == nullptr) return 0;
  return answer->several ? answer->places.size() : answer->entries.size();
}

ingot_error ingot_answer_at(const ingot_answer* answer, std::size_t index, ingot_entry* entry) {
  if (entry == nullptr) return INGOT_INVALID;
  *entry = {};
  if (index >= ingot_answer_count(answer)) return INGOT_INVALID;
  const std::size_t place = answer->several ? answer->places[index] : index;
  if (place == kMissing) return INGOT_NOT_FOUND;
  show(answer->entries[place], *entry);
  return INGOT_OK;
}

std::int64_t ingot_answer_revision(const ingot_answer* answer) { return answer == nullptr ? 0 : answer->revision; }

int ingot_answer_more(const ingot_answer* answer) { return answer != nullptr && answer->more ? 1 : 0; }

// ---- Reads ----------------------------------------------------------------------------------------------------------

ingot_error ingot_get(ingot_view* view, const char* key, std::size_t key_size, ingot_entry* entry) {
  if (entry != nullptr) *entry = {};
  if (view == nullptr) return INGOT_CLOSED;
  if (entry == nullptr) return view->view->fail(INGOT_INVALID, kNoPlace);
  if (!is_bytes(key, key_size)) return view->view->fail(INGOT_INVALID, kNoBytes);
  return guarded(view, [&] {
    ingot::ViewAnswer& got = view->view->got();
    const std::string_view name = bytes(key, key_size);
    const ingot_error error = view->view->read([&](ingot::ViewHandle& handle) { return handle.get(name, got); });
    if (error != INGOT_OK) return error;
    if (got.empty()) return view->view->fail(INGOT_NOT_FOUND);
    show(got[0], *entry);
    return INGOT_OK;
  });
}

ingot_error ingot_get_several(ingot_view* view, const ingot_bytes* keys, std::size_t keys_count, ingot_answer* answer) {
  const std::span<const ingot_bytes> asked(keys, keys == nullptr ? 0 : keys_count);
  const bool valid = asked.size() == keys_count &&
                     std::ranges::all_of(asked, [](const ingot_bytes& key) { return is_bytes(key.data, key.size); });
  return guarded(view, [&] {
    std::vector<std::string_view> names;
    if (valid) {
      for (const ingot_bytes& key : asked) names.push_back(bytes(key.data, key.size));
    }
    const ingot_error error = read_into(view, answer, valid, [&](ingot::ViewHandle& handle, auto& entries) {
      return handle.get_several(names, entries);
    });
    if (error != INGOT_OK) return error;
    if (answer->entries.bytes() > view->view->answer_size_max()) {
      clear(*answer);
      return view->view->fail(INGOT_TOO_LARGE, "the keys' values take more than answer_size_max; ask for fewer");
    }
    answer->several = true;
    answer->places.reserve(names.size());
    std::size_t next = 0;  // entries are in the order of the keys
    for (const std::string_view name : names) {
      const bool found = next < answer->entries.size() && answer->entries[next].key == name;
      answer->places.push_back(found ? next++ : kMissing);
    }
    return INGOT_OK;
  });
}

ingot_error ingot_range(ingot_view* view, const char* begin, std::size_t begin_size, const char* end,
                        std::size_t end_size, std::size_t limit, ingot_answer* answer) {
  const bool valid = is_bytes(begin, begin_size) && is_bytes(end, end_size);
  ingot::ViewRange range;
  if (valid) range.begin = bytes(begin, begin_size), range.end = bytes(end, end_size);
  return read_range(view, range, limit, valid, answer);
}

ingot_error ingot_prefix(ingot_view* view, const char* prefix, std::size_t prefix_size, std::size_t limit,
                         ingot_answer* answer) {
  const bool valid = is_bytes(prefix, prefix_size);
  return guarded(view, [&] {
    const std::string end = valid ? ingot::prefix_end(bytes(prefix, prefix_size)) : "";
    ingot::ViewRange range;
    if (valid) range.begin = bytes(prefix, prefix_size), range.end = end;
    return read_range(view, range, limit, valid, answer);
  });
}

ingot_error ingot_count(ingot_view* view, const char* begin, std::size_t begin_size, const char* end,
                        std::size_t end_size, std::uint64_t* count) {
  const bool valid = is_bytes(begin, begin_size) && is_bytes(end, end_size);
  if (!valid) return count_range(view, "", "", false, count);
  return count_range(view, bytes(begin, begin_size), bytes(end, end_size), true, count);
}

ingot_error ingot_count_prefix(ingot_view* view, const char* prefix, std::size_t prefix_size, std::uint64_t* count) {
  if (!is_bytes(prefix, prefix_size)) return count_range(view, "", "", false, count);
  return guarded(view, [&] {
    const std::string_view begin = bytes(prefix, prefix_size);
    return count_range(view, begin, ingot::prefix_end(begin), true, count);
  });
}

ingot_error ingot_changes(ingot_view* view, std::int64_t after_revision, ingot_answer* answer) {
  if (view != nullptr && after_revision < 0) {
    if (answer != nullptr) clear(*answer);
    return view->view->fail(INGOT_INVALID, "a revision is 0 or more");
  }
  return read_into(view, answer, true, [&](ingot::ViewHandle& handle, ingot::ViewAnswer& entries) {
    return handle.changes(after_revision, entries);
  });
}

// ---- Revision, age, identity, waiting -------------------------------------------------------------------------------

std::int64_t ingot_revision(const ingot_view* view) { return view == nullptr ? 0 : view->view->revision(); }

std::uint64_t ingot_identity(const ingot_view* view) { return view == nullptr ? 0 : view->view->identity(); }

ingot_error ingot_require(ingot_view* view, std::int64_t revision) {
  if (view == nullptr) return INGOT_CLOSED;
  view->view->require(revision);
  return INGOT_OK;
}

ingot_error ingot_age(ingot_view* view, std::int64_t* age_ms) {
  if (age_ms != nullptr) *age_ms = -1;
  if (view == nullptr) return INGOT_CLOSED;
  if (age_ms == nullptr) return view->view->fail(INGOT_INVALID, kNoPlace);
  return guarded(view, [&] { return view->view->age(*age_ms); });
}

ingot_error ingot_wait(ingot_view* view, const char* prefix, std::size_t prefix_size, std::int64_t after_revision,
                       std::int64_t timeout_ms) {
  if (view == nullptr) return INGOT_CLOSED;
  if (!is_bytes(prefix, prefix_size)) return view->view->fail(INGOT_INVALID, kNoBytes);
  return guarded(view, [&] { return view->view->wait(bytes(prefix, prefix_size), after_revision, timeout_ms); });
}

int ingot_wait_fd(ingot_view* view) {
  if (view == nullptr) return -1;
  return view->view->wait_fd();
}
