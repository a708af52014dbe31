#include "services/ingotctl/render/lease.h"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/cli/utf8.h"

namespace ingot::inline services_ingotctl_render {
namespace {

using nlohmann::ordered_json;

std::string counted(std::int64_t count, const char* one) {
  return absl::StrCat(count, " ", one, count == 1 ? "" : "s");
}

}  // namespace

std::string lease_name(std::int64_t id) { return absl::StrFormat("%016x", static_cast<std::uint64_t>(id)); }

absl::StatusOr<std::int64_t> parse_lease(const std::string& text) {
  constexpr std::size_t kDigitsMax = 16;
  const bool digits = std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  std::uint64_t id = 0;
  if (digits && text.size() <= kDigitsMax && absl::SimpleHexAtoi(text, &id) && id != 0) {
    return static_cast<std::int64_t>(id);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not the id of a lease; give its 1 to 16 hexadecimal digits, as in 694d77aa9e38260f"));
}

void print_grant(const etcdserverpb::LeaseGrantResponse& response, bool json) {
  const std::string name = lease_name(response.id());
  if (json) {
    std::cout << ordered_json{{"id", name}, {"ttl", response.ttl()}}.dump() << "\n";
  } else {
    std::cout << "lease " << name << " granted for " << response.ttl() << " s\n";
  }
}

void print_revoked(std::int64_t id, const etcdserverpb::LeaseRevokeResponse& response, bool json) {
  const std::int64_t revision = response.header().revision();
  if (json) {
    std::cout << ordered_json{{"id", lease_name(id)}, {"revision", revision}}.dump() << "\n";
  } else {
    std::cout << "lease " << lease_name(id) << " revoked, revision " << revision << "\n";
  }
}

void print_kept_alive(const etcdserverpb::LeaseKeepAliveResponse& response, bool json) {
  const std::string name = lease_name(response.id());
  if (json) {
    std::cout << ordered_json{{"id", name}, {"ttl", response.ttl()}}.dump() << "\n";
  } else {
    std::cout << "lease " << name << " has " << response.ttl() << " s again\n";
  }
}

void print_leases(const etcdserverpb::LeaseLeasesResponse& response, bool json) {
  ordered_json names = ordered_json::array();
  for (const etcdserverpb::LeaseStatus& lease : response.leases()) names.push_back(lease_name(lease.id()));
  if (json) {
    std::cout << ordered_json{{"leases", std::move(names)}}.dump() << "\n";
    return;
  }
  for (const ordered_json& name : names) std::cout << name.get<std::string>() << "\n";
  std::cout << counted(response.leases_size(), "lease") << "\n";
}

void print_time_to_live(const etcdserverpb::LeaseTimeToLiveResponse& response, bool json) {
  const std::string name = lease_name(response.id());
  if (json) {
    ordered_json object{{"id", name}, {"ttl", response.ttl()}, {"granted_ttl", response.grantedttl()}};
    object["keys"] = ordered_json::array();
    for (const std::string& key : response.keys()) {
      object["keys"].push_back(is_utf8(key) ? ordered_json(key)
                                            : ordered_json{{"key_base64", absl::Base64Escape(key)}});
    }
    std::cout << object.dump() << "\n";
    return;
  }
  for (const std::string& key : response.keys()) std::cout << printable(key) << "\n";
  std::cout << "lease " << name << " has " << response.ttl() << " s left of " << response.grantedttl() << " s";
  if (response.keys_size() > 0) std::cout << ", and " << counted(response.keys_size(), "key");
  std::cout << "\n";
}

}  // namespace ingot::services_ingotctl_render
