// Replays the files in scenarios/, whose results are etcd's (record_scenarios.py writes them).
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "replication/store/kv_store.h"
#include "tests/replication/store/text.h"

namespace ingot::kv {
namespace {

// Replays one file; returns the number of requests.
int replay(const std::filesystem::path& path) {
  std::ifstream file(path);
  KvStore store;
  Json result;
  int requests = 0;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    INFO(path.string() << ":" << number << ": " << line);
    if (line.starts_with(">")) {
      REQUIRE(result.is_null());  // every request is followed by its result
      const Request request = request_from_json(Json::parse(line.substr(1)));
      result = to_json(*decode_result(store.apply(Slot(0), encode(request))));
      ++requests;
    } else if (line.starts_with("{")) {
      INFO("store: " << result.dump());
      // Compared as unordered objects: the order of fields is the recorder's.
      REQUIRE(nlohmann::json::parse(result.dump()) == nlohmann::json::parse(line));
      result = nullptr;
    }
  }
  REQUIRE(result.is_null());
  return requests;
}

TEST_CASE("The store answers the scenarios as etcd did") {
  int files = 0, requests = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/replication/store/scenarios")) {
    ++files;
    requests += replay(entry.path());
  }
  REQUIRE(files >= 5);
  REQUIRE(requests >= 100);
}

}  // namespace
}  // namespace ingot::kv
