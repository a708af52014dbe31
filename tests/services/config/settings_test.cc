// Every row of the table of settings has its flag, its entry in the launch document and its checks.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "replication/agreement/registry.h"
#include "services/config/config_message.h"
#include "services/config/daemon_settings.h"
#include "services/config/ranges.h"
#include "services/config/scc_settings.h"
#include "services/config/text_faults.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

// Another value of each type.
bool other(bool value) { return !value; }
template <NamedEnum Enum>
Enum other(Enum value) {
  return value == Enum{} ? static_cast<Enum>(1) : Enum{};
}
template <typename Number>
  requires std::is_arithmetic_v<Number>
Number other(Number value) {
  return value + 1;
}
std::string other(const std::string& value) { return value + "\xff=, \n"; }

DaemonConfig all_changed() {
  DaemonConfig config;
  visit_settings(config, [&](const auto& setting) { config.*setting.member = other(setting.initial); });
  config.cluster_id = 7;
  config.member_id = 8;
  return config;
}

void check_equal(const DaemonConfig& a, const DaemonConfig& b) {
  visit_settings(a, [&](const auto& setting) {
    CAPTURE(setting.key);
    CHECK(a.*setting.member == b.*setting.member);
  });
  CHECK(a.cluster_id == b.cluster_id);
  CHECK(a.member_id == b.member_id);
}

TEST_CASE("the launch document carries every setting, whatever its value") {
  check_equal(from_message(to_message(DaemonConfig{})).value(), DaemonConfig{});
  config_v1::Config message;
  REQUIRE(message.ParseFromString(to_message(all_changed()).SerializeAsString()));
  check_equal(from_message(message).value(), all_changed());
}

TEST_CASE("a launch document with other settings is refused with a sentence") {
  const auto refused = [](const auto& change) {
    config_v1::Config message = to_message(DaemonConfig{});
    change(message);
    const auto config = from_message(message);
    CHECK(absl::IsInvalidArgument(config.status()));
    return std::string(config.status().message());
  };
  CHECK_THAT(refused([](auto& message) { message.mutable_settings()->RemoveLast(); }),
             Contains("log_format: is missing"));
  CHECK_THAT(refused([](auto& message) { *message.add_settings() = message.settings(0); }), Contains("replicas"));
  CHECK_THAT(refused([](auto& message) { message.add_settings()->set_name("colour"); }), Contains("colour"));
  CHECK_THAT(refused([](auto& message) { message.mutable_settings(0)->set_value("x"); }), Contains("replicas: 'x'"));
  CHECK_THAT(refused([](auto& message) { message.mutable_settings(2)->set_value("raft"); }),
             Contains("agreement: 'raft'"));
  CHECK_THAT(refused([](auto& message) { message.set_cluster_id(0); }), Contains("cluster"));
}

TEST_CASE("a text is a value of its type within its range, or is refused and changes nothing") {
  int number = 5;
  CHECK(parse_setting(settings::between(1, 7), "7", number).ok());
  CHECK(number == 7);
  for (const char* wrong : {"0", "8", "", "x", "1.5", "99999999999", " "}) {
    CAPTURE(wrong);
    CHECK(absl::IsInvalidArgument(parse_setting(settings::between(1, 7), wrong, number)));
    CHECK(number == 7);
  }
  std::uint64_t wide = 0;
  CHECK(parse_setting(settings::any(), "18446744073709551615", wide).ok());
  CHECK(wide == ~std::uint64_t{0});
  CHECK(absl::IsInvalidArgument(parse_setting(settings::any(), "-1", wide)));
  CHECK(absl::IsInvalidArgument(parse_setting(settings::any(), "18446744073709551616", wide)));
  bool flag = false;
  CHECK(parse_setting(settings::any(), "on", flag).ok());
  CHECK(flag);
  CHECK(absl::IsInvalidArgument(parse_setting(settings::any(), "yes", flag)));
  std::vector<int> list;
  CHECK(parse_setting(settings::any(), "3,1,2", list).ok());
  CHECK(list == std::vector<int>{3, 1, 2});
  CHECK(setting_text(settings::any(), list) == "3,1,2");
  CHECK(absl::IsInvalidArgument(parse_setting(settings::any(), "3,x", list)));
}

TEST_CASE("a setting out of its range is named with its flag, its value and what it takes") {
  DaemonConfig config;
  CHECK(check_ranges(config).ok());
  config.replicas = 0;
  CHECK(check_ranges(config).message() == "--replicas=0 is out of range; give 1 to 48");
  config.replicas = 49;
  CHECK(absl::IsInvalidArgument(check_ranges(config)));
}

TEST_CASE("a socket's path is absolute, fits the kernel's address, and is text") {
  for (const std::string& right :
       {std::string(), std::string("auto"), std::string("/a b"), "/" + std::string(106, 'x')}) {
    CAPTURE(right);
    CHECK(fault_in_socket_path(right) == "");
  }
  for (const std::string& wrong :
       {std::string("a.sock"), std::string("/a/"), std::string("/"), std::string("@abstract"), std::string("/a\nb"),
        std::string("/\xff"), std::string("automatic")}) {
    CAPTURE(wrong);
    CHECK_THAT(fault_in_socket_path(wrong), Contains("give an absolute path"));
  }
  CHECK_THAT(fault_in_socket_path("/" + std::string(107, 'x')), Contains("108 bytes") && Contains("107"));
}

TEST_CASE("a socket's mode is three octal digits for reading and writing") {
  for (const char* right : {"0660", "600", "666", "0000", "0640"}) CHECK(fault_in_socket_mode(right) == "");
  for (const char* wrong : {"", "0", "66", "06660", "0770", "0661", "888", "rw-", "-660", "1660"}) {
    CAPTURE(wrong);
    CHECK_THAT(fault_in_socket_mode(wrong), Contains("0660"));
  }
}

TEST_CASE("a number of bytes with a unit is refused with the right number") {
  std::int64_t bytes = 5;
  const auto refused = [&](const char* text) {
    const absl::Status status = parse_setting(settings::bytes(1, INT64_MAX), text, bytes);
    CHECK(bytes == 5);
    return std::string(status.message());
  };
  CHECK(refused("1GiB") == "'1GiB' will not do; give the number of bytes: 1GiB is 1073741824");
  CHECK_THAT(refused("512M"), Contains("512M is 536870912"));
  CHECK_THAT(refused("3kB"), Contains("3kB is 3000"));
  for (const char* wrong : {"x", "", "1.5G", "-1G", "99999999999T", "0"}) {
    CAPTURE(wrong);
    CHECK_THAT(refused(wrong), Contains("give a whole number, 1 or more"));
  }
  CHECK(parse_setting(settings::bytes(1, INT64_MAX), "7", bytes).ok());
  CHECK(bytes == 7);
}

TEST_CASE("clients' URLs are http:// and unix:, and of TLS it is said what helps") {
  for (const char* right : {"", "http://h:1", "http://h:1/", "http://[::1]:2379,unix:///run/a.sock"}) {
    CAPTURE(right);
    CHECK(fault_in_client_urls(right) == "");
  }
  CHECK_THAT(fault_in_client_urls("http://h:1,https://h:2"), Contains("'https://h:2' needs TLS"));
  for (const char* wrong : {"h:1", "http://h", "http://:1", "ftp://h:1"}) {
    CAPTURE(wrong);
    CHECK_THAT(fault_in_client_urls(wrong), Contains("write http://HOST:PORT"));
  }
}

TEST_CASE("every setting has a flag, a key and a help of its own") {
  std::set<std::string> flags, keys;
  const auto visit = [&](const auto& setting) {
    CAPTURE(setting.flag);
    CHECK(std::string(setting.flag).substr(0, 2) == "--");
    CHECK(flags.insert(setting.flag).second);
    CHECK(keys.insert(setting.key).second);
    CHECK(!setting.help.empty());
  };
  visit_settings(DaemonConfig{}, visit);
  visit_settings(SccConfig{}, [&](const auto& setting) {
    visit(setting);
    CHECK(std::string(setting.flag).substr(0, 6) == "--scc-");
  });
  CHECK(environment_name("--orphan-grace") == "INGOT_ORPHAN_GRACE");
}

TEST_CASE("every agreement and every transport that can be chosen exists") {
  for (const char* name : enum_names(AgreementKind{})) CHECK(make_agreement(name, {}) != nullptr);
  CHECK(value_of<AgreementKind>("2pc") == AgreementKind::kTwoPhaseCommit);
  CHECK(value_of<AgreementKind>("raft") == std::nullopt);
}

}  // namespace
}  // namespace ingot
