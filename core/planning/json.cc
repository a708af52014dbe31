#include "core/planning/json.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/planning/limits.h"

namespace ingot::inline core_planning {
namespace {

using nlohmann::json;

// Builds the value like nlohmann's own parser, but stores a parse error instead of throwing it.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(json& out) : out_(out) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    failed_at_ = position;
    return false;
  }

  std::size_t failed_at() const { return failed_at_; }
  bool too_deep() const { return too_deep_; }

 private:
  bool add(json value) {
    place(std::move(value));
    return true;
  }

  json* place(json value) {
    if (open_.empty()) return &(out_ = std::move(value));
    json& into = *open_.back();
    if (into.is_array()) {
      into.push_back(std::move(value));
      return &into.back();
    }
    return &(into[key_] = std::move(value));
  }

  bool open(json value) {
    too_deep_ = open_.size() >= static_cast<std::size_t>(kJsonDepthMax);
    if (too_deep_) return false;
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  json& out_;
  std::vector<json*> open_;  // the arrays and objects around the next value; only the last one grows, so pointers stay
  std::string key_;
  std::size_t failed_at_ = 0;
  bool too_deep_ = false;
};

}  // namespace

absl::StatusOr<json> parse_json(std::string_view text) {
  if (text.size() > kMachineFileBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("it has more than ", kMachineFileBytesMax, " bytes"));
  }
  json value;
  Builder builder(value);
  if (json::sax_parse(text.begin(), text.end(), &builder)) return value;
  if (builder.too_deep())
    return absl::InvalidArgumentError(absl::StrCat("it is nested more than ", kJsonDepthMax, " deep"));
  const std::size_t read = std::min(builder.failed_at(), text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
  return absl::InvalidArgumentError(
      absl::StrCat("it is not JSON: look at line ", line, " (every number must be finite, and written out)"));
}

std::int64_t whole_number_or_minus_one(const json& value, std::int64_t max) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= static_cast<std::uint64_t>(max) ? static_cast<std::int64_t>(number) : -1;
  }
  return -1;
}

}  // namespace ingot::core_planning
