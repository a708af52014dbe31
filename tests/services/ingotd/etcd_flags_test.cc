// A command line and an environment that were written for etcd.
#include "services/ingotd/etcd_flags.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/config/daemon_settings.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

// The translated words without the program's name, or the error.
std::pair<Words, std::string> translate(Words words) {
  words.insert(words.begin(), "ingotd");
  const absl::Status status = translate_etcd_flags(words);
  words.erase(words.begin());
  return {words, std::string(status.message())};
}

TEST_CASE("flags with another name here get it, and URLs become addresses") {
  CHECK(translate({"--listen-client-urls=http://0.0.0.0:2379"}).first == Words{"--listen=0.0.0.0:2379"});
  CHECK(translate({"--listen-client-urls", "http://[::1]:1/"}).first == Words{"--listen", "[::1]:1"});
  CHECK(translate({"--listen-metrics-urls=http://h:3"}).first == Words{"--metrics-listen=h:3"});
  CHECK(translate({"--experimental-watch-progress-notify-interval=1s"}).first ==
        Words{"--watch-progress-notify-interval=1s"});
  const Words unchanged{"--name=a", "--replicas", "5", "--quota-backend-bytes=7", "--listen=h:1", "--", "--data-dir"};
  CHECK(translate(unchanged) == std::pair(unchanged, std::string()));
  // ingotd's own parser says that the value is missing.
  CHECK(translate({"--listen-client-urls"}).first == Words{"--listen"});
}

TEST_CASE("flags without a meaning here are refused with what to do instead") {
  CHECK(translate({"--data-dir=/var/lib/etcd"}).second ==
        "--data-dir has no meaning here: the state is in memory and has no files; leave it out");
  CHECK_THAT(translate({"--initial-cluster", "a=http://h:1"}).second, Contains("give --replicas=NUMBER"));
  CHECK_THAT(translate({"--cert-file=x"}).second, Contains("there is no TLS"));
}

TEST_CASE("a flag without a meaning here is known by its experimental name, and by that variable") {
  CHECK_THAT(translate({"--experimental-initial-corrupt-check=true"}).second,
             StartsWith("--experimental-initial-corrupt-check has no meaning here: ingotctl status --digest"));
  CHECK(translate({"--experimental-name=a"}) == std::pair(Words{"--experimental-name=a"}, std::string()));
  ::setenv("ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME", "1h", 1);
  CHECK_THAT(std::string(translate_etcd_variables().message()),
             StartsWith("ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME has no meaning here: "));
  ::unsetenv("ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME");
}

// With INGOT_ETCD=PATH those of another version.
TEST_CASE("each flag in etcd's help is known") {
  const char* const other = std::getenv("INGOT_ETCD");
  const std::string command = absl::StrCat(other == nullptr ? "/usr/bin/etcd" : other, " --help 2>&1");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(pipe != nullptr);
  std::string help;
  for (int byte = 0; (byte = std::fgetc(pipe.get())) != EOF;) help += static_cast<char>(byte);
  const std::regex flag("(?:^|\n) +(--[a-z0-9-]+)");
  int flags = 0;
  for (std::sregex_iterator found(help.begin(), help.end(), flag), end; found != end; ++found, ++flags) {
    const std::string name = (*found)[1];
    if (name == "--version" || name == "--help") continue;
    CAPTURE(name);
    const auto [words, error] = translate({name});
    const bool renamed = words != Words{name};
    const bool same = std::any_of(etcd_flags().begin(), etcd_flags().end(), [&](const EtcdFlag& each) {
      return each.ours != nullptr && each.name == name;
    });
    CHECK((renamed || same || !error.empty()));
  }
  CHECK(flags > 50);
}

TEST_CASE("addresses that Ingot cannot listen on are refused with the right form") {
  const auto refused = [](const std::string& url) { return translate({"--listen-client-urls=" + url}).second; };
  CHECK_THAT(refused("https://h:1"), Contains("needs TLS"));
  CHECK_THAT(refused("http://h:1,http://g:1"), Contains("names several addresses, and --listen takes one"));
  CHECK_THAT(refused("unix:///run/a"), Contains("--socket=PATH"));
  CHECK_THAT(refused("h:1"), Contains("write http://HOST:PORT"));
  CHECK_THAT(refused("http://:2379"), Contains("0.0.0.0:2379"));
}

TEST_CASE("etcd's variables set ours that are not set, and an empty one sets nothing") {
  ::setenv("ETCD_LISTEN_CLIENT_URLS", "http://127.0.0.1:7", 1);
  ::setenv("ETCD_NAME", "theirs", 1);
  ::setenv("INGOT_NAME", "ours", 1);
  ::setenv("ETCD_DATA_DIR", "", 1);
  ::setenv("ETCD_SERVICE_HOST", "a service of a cluster", 1);
  CHECK(translate_etcd_variables().ok());
  CHECK(std::string(std::getenv("INGOT_LISTEN")) == "127.0.0.1:7");
  CHECK(std::string(std::getenv("INGOT_NAME")) == "ours");
  ::setenv("ETCD_DATA_DIR", "/x", 1);
  CHECK(translate_etcd_variables().message() ==
        "ETCD_DATA_DIR has no meaning here: the state is in memory and has no files; leave it out");
  for (const char* each : {"ETCD_LISTEN_CLIENT_URLS", "ETCD_NAME", "INGOT_NAME", "INGOT_LISTEN", "ETCD_DATA_DIR",
                           "ETCD_SERVICE_HOST"}) {
    ::unsetenv(each);
  }
}

TEST_CASE("a flag is known once, means a flag of ingotd or has a remedy, and stands in docs/etcd.md") {
  std::set<std::string> ours, names;
  visit_settings(DaemonConfig{}, [&](const auto& setting) { ours.insert(setting.flag); });
  std::stringstream page;
  page << std::ifstream("docs/etcd.md").rdbuf();
  for (const EtcdFlag& each : etcd_flags()) {
    CAPTURE(each.name);
    CHECK(names.insert(each.name).second);
    CHECK((each.ours != nullptr) != (each.remedy != nullptr));
    if (each.ours != nullptr) CHECK(ours.contains(each.ours));
    CHECK_THAT(page.str(), Contains(absl::StrCat("`", each.name, "`")));
  }
}

}  // namespace
}  // namespace ingot
