// Results merged from sorted pages, beside one sort of all.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "core/prng.h"
#include "replication/store/limits.h"
#include "replication/store/sort.h"
#include "services/etcd/sorted_pages.h"
#include "tests/seeds.h"

namespace ingot::etcd {
namespace {

using Results = std::vector<kv::KeyValue>;

void sort(Results& results, kv::SortOrder order, kv::SortTarget target) {
  std::stable_sort(results.begin(), results.end(), [&](const kv::KeyValue& a, const kv::KeyValue& b) {
    const int compared = kv::compare_by(target, a, b);
    return order == kv::SortOrder::kDescend ? compared > 0 : compared < 0;
  });
}

TEST_CASE("Merged pages are what one stable sort gives, with any limit") {
  Prng rng(testing::drawn_seed());
  for (int run = 0; run < 200; ++run) {
    const auto order = static_cast<kv::SortOrder>(rng.below(3));
    const auto target = static_cast<kv::SortTarget>(rng.below(5));
    const auto limit = rng.below(3) == 0 ? std::int64_t{0} : static_cast<std::int64_t>(1 + rng.below(3'000));
    SortedPages pages(order, target, limit);
    Results all;
    const auto count = static_cast<int>(rng.below(rng.below(4) == 0 ? 10'000 : 300));
    Results page;
    for (int i = 0; i < count; ++i) {
      kv::KeyValue entry;
      entry.key = std::to_string(100'000 + i);
      entry.value = std::to_string(rng.below(50));
      entry.version = static_cast<std::int64_t>(rng.below(5));
      entry.mod_revision = static_cast<kv::Revision>(rng.below(1'000));
      entry.create_revision = static_cast<kv::Revision>(rng.below(20));
      all.push_back(entry);
      page.push_back(std::move(entry));
      if (rng.below(100) > 0 && i + 1 < count) continue;
      sort(page, order, target);
      if (limit > 0 && page.size() > static_cast<std::size_t>(limit)) page.resize(static_cast<std::size_t>(limit));
      pages.add(std::exchange(page, {}));
    }
    sort(all, order, target);
    Results merged;
    do {
      for (kv::KeyValue& entry : pages.take(1 + rng.below(2'000))) merged.push_back(std::move(entry));
    } while (!pages.done());
    if (limit > 0 && all.size() > static_cast<std::size_t>(limit)) all.resize(static_cast<std::size_t>(limit));
    REQUIRE(merged == all);
  }
}

TEST_CASE("With a limit, what can be no result is given up") {
  SortedPages pages(kv::SortOrder::kAscend, kv::SortTarget::kKey, 10);
  std::size_t most = 0;
  for (int i = 0; i < 1'000; ++i) {
    Results page;
    for (int j = 0; j < 10; ++j) page.push_back({.key = std::to_string(100'000 + 10 * i + j), .value = "v"});
    pages.add(std::move(page));
    most = std::max(most, pages.bytes());
  }
  REQUIRE(most < (kStepEntriesMax + 10) * (sizeof(kv::KeyValue) + 8));
  const Results first = pages.take(kPageBytesMax);
  REQUIRE(pages.done());
  REQUIRE(pages.cut());
  REQUIRE(first.size() == 10);
  REQUIRE(first.back().key == "100009");
}

}  // namespace
}  // namespace ingot::etcd
