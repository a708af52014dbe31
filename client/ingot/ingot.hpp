// libingot for C++20: a thin header over ingot.h, which has the semantics. Errors are thrown as ingot::Error.
//
//   ingot::View view = ingot::View::open();
//   if (const auto value = view.get("flag")) std::cout << *value << '\n';
//   for (const ingot::Entry& entry : view.prefix("config/")) std::cout << entry.key << '\n';
//
// Not thread-safe: a view and an answer are for one thread at a time. Moved-from and closed views throw INGOT_CLOSED.
#ifndef INGOT_HPP
#define INGOT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot.h"

namespace ingot::inline client_ingot_api {

class Error : public std::runtime_error {
 public:
  Error(ingot_error code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ingot_error code() const noexcept { return code_; }
  const char* name() const noexcept { return ingot_error_name(code_); }

 private:
  ingot_error code_;
};

// Its views end with the answer's next use; of View::entry and View::get with the view's next one of these two.
struct Entry {
  std::string_view key;
  std::string_view value;
  std::int64_t mod_revision = 0;
  std::int64_t create_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
  bool deleted = false;  // in answers of View::changes only
};

inline Entry entry_of(const ingot_entry& entry) {
  return {{entry.key, entry.key_size}, {entry.value, entry.value_size}, entry.mod_revision, entry.create_revision,
          entry.version,               entry.lease,                     entry.deleted != 0};
}

// Several keys at one revision. Reading into the same answer again saves memory and time.
class Answer {
 public:
  Answer() : answer_(ingot_answer_new()) {
    if (answer_ == nullptr) throw std::bad_alloc();
  }
  Answer(Answer&& other) noexcept : answer_(std::exchange(other.answer_, nullptr)) {}
  Answer& operator=(Answer&& other) noexcept {
    std::swap(answer_, other.answer_);
    return *this;
  }
  ~Answer() { ingot_answer_free(answer_); }

  std::size_t size() const noexcept { return ingot_answer_count(answer_); }
  bool empty() const noexcept { return size() == 0; }
  std::int64_t revision() const noexcept { return ingot_answer_revision(answer_); }
  bool more() const noexcept { return ingot_answer_more(answer_) != 0; }

  // Nothing: the key that was asked for (View::get_several) is not there. Throws INGOT_INVALID if index >= size().
  std::optional<Entry> at(std::size_t index) const {
    ingot_entry entry;
    const ingot_error error = ingot_answer_at(answer_, index, &entry);
    if (error == INGOT_NOT_FOUND) return std::nullopt;
    if (error != INGOT_OK) throw Error(error, "an answer has no entry at that index");
    return entry_of(entry);
  }
  // REQUIRES: the entry is there; an Entry without a key otherwise.
  Entry operator[](std::size_t index) const {
    ingot_entry entry;
    (void)ingot_answer_at(answer_, index, &entry);
    return entry_of(entry);
  }

  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = void;
    using reference = Entry;

    Iterator() = default;
    Iterator(const Answer& answer, std::size_t index) : answer_(&answer), index_(index) {}
    Entry operator*() const { return (*answer_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {*answer_, index_++}; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Answer* answer_ = nullptr;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  ingot_answer* handle() const noexcept { return answer_; }

 private:
  ingot_answer* answer_;
};

// As ingot_options.
struct Options {
  std::chrono::milliseconds open_timeout{5000};
  std::chrono::milliseconds timeout{1000};
  std::optional<std::chrono::milliseconds> age_max = {};
  std::size_t answer_size_max = std::size_t{64} << 20;
};

class View {
 public:
  // `instance`: as ingot_open; empty: what the environment says.
  static View open(const std::string& instance = {}, const Options& options = {}) {
    ingot_options given = INGOT_OPTIONS_INIT;
    given.open_timeout_ms = options.open_timeout.count();
    given.timeout_ms = options.timeout.count();
    given.age_max_ms = options.age_max ? options.age_max->count() : -1;
    given.answer_size_max = options.answer_size_max;
    char message[INGOT_MESSAGE_SIZE];
    View view;
    const ingot_error error = ingot_open(instance.c_str(), &given, &view.view_, message, sizeof message);
    if (error != INGOT_OK) throw Error(error, *message == '\0' ? ingot_error_text(error) : message);
    return view;
  }

  View(View&& other) noexcept : view_(std::exchange(other.view_, nullptr)) {}
  View& operator=(View&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~View() { close(); }
  void close() noexcept { ingot_close(std::exchange(view_, nullptr)); }

  std::optional<std::string_view> get(std::string_view key) {
    const auto found = entry(key);
    return found ? std::optional(found->value) : std::nullopt;
  }
  std::optional<Entry> entry(std::string_view key) {
    ingot_entry entry;
    const ingot_error error = ingot_get(view_, key.data(), key.size(), &entry);
    if (error == INGOT_NOT_FOUND) return std::nullopt;
    check(error);
    return entry_of(entry);
  }

  // Answer::at(i) is the entry of keys[i].
  Answer get_several(std::span<const std::string_view> keys) {
    std::vector<ingot_bytes> asked;
    for (const std::string_view key : keys) asked.push_back({key.data(), key.size()});
    Answer answer;
    check(ingot_get_several(view_, asked.data(), asked.size(), answer.handle()));
    return answer;
  }

  Answer range(std::string_view begin, std::string_view end, std::size_t limit = 0) {
    Answer answer;
    check(ingot_range(view_, begin.data(), begin.size(), end.data(), end.size(), limit, answer.handle()));
    return answer;
  }
  Answer prefix(std::string_view prefix, std::size_t limit = 0) {
    Answer answer;
    this->prefix(prefix, answer, limit);
    return answer;
  }
  // In memory that is there already.
  void prefix(std::string_view prefix, Answer& answer, std::size_t limit = 0) {
    check(ingot_prefix(view_, prefix.data(), prefix.size(), limit, answer.handle()));
  }
  Answer changes(std::int64_t after_revision) {
    Answer answer;
    check(ingot_changes(view_, after_revision, answer.handle()));
    return answer;
  }

  std::uint64_t count(std::string_view begin, std::string_view end) {
    std::uint64_t count = 0;
    check(ingot_count(view_, begin.data(), begin.size(), end.data(), end.size(), &count));
    return count;
  }
  std::uint64_t count_prefix(std::string_view prefix) {
    std::uint64_t count = 0;
    check(ingot_count_prefix(view_, prefix.data(), prefix.size(), &count));
    return count;
  }

  // True: a key with the prefix may have changed; false: the time is over. Without a timeout it waits without an end.
  // Throws INGOT_NO_DAEMON if the time is over and nobody is there who would tell.
  bool wait(std::string_view prefix, std::int64_t after_revision,
            std::optional<std::chrono::milliseconds> timeout = {}) {
    const std::int64_t timeout_ms = timeout ? timeout->count() : -1;
    const ingot_error error = ingot_wait(view_, prefix.data(), prefix.size(), after_revision, timeout_ms);
    if (error == INGOT_TIMED_OUT) return false;
    check(error);
    return true;
  }
  int wait_fd() {
    const int fd = ingot_wait_fd(view_);
    if (fd >= 0) return fd;
    const ingot_error error = view_ == nullptr ? INGOT_CLOSED : INGOT_EXHAUSTED;
    throw Error(error, ingot_error_text(error));
  }

  void require(std::int64_t revision) { check(ingot_require(view_, revision)); }
  void set_timeout(std::chrono::milliseconds timeout) { check(ingot_set_timeout(view_, timeout.count())); }
  std::int64_t revision() const noexcept { return ingot_revision(view_); }
  std::uint64_t identity() const noexcept { return ingot_identity(view_); }
  std::chrono::milliseconds age() {
    std::int64_t age_ms = 0;
    check(ingot_age(view_, &age_ms));
    return std::chrono::milliseconds(age_ms);
  }

  ingot_view* handle() const noexcept { return view_; }

 private:
  View() = default;

  void check(ingot_error error) const {
    if (error != INGOT_OK) throw Error(error, ingot_message(view_));
  }

  ingot_view* view_ = nullptr;
};

}  // namespace ingot::client_ingot_api

#endif
