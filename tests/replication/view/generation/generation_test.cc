// What writers refuse, and what readers are told, case by case.
#include "replication/view/generation/reader.h"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "replication/view/generation/key_hash.h"
#include "replication/view/generation/memory.h"
#include "replication/view/generation/writer.h"
#include "tests/replication/view/generation/view_world.h"
#include "transport/host/segment.h"

namespace ingot::test {
namespace {

constexpr std::size_t kBytes = kGenerationBytesMin;

class Generation {
 public:
  explicit Generation(std::size_t bytes = kBytes) : memory(bytes) {
    auto created = GenerationWriter::create(memory.bytes(), {.seed = 7});
    REQUIRE(created.ok());
    writer = *std::move(created);
  }

  absl::Status put(const std::string& key, const std::string& value, ViewRevision revision) {
    return writer->apply({.key = key, .value = value, .revision = revision, .created = revision, .version = 1});
  }
  absl::Status erase(const std::string& key, ViewRevision revision) {
    return writer->apply({.key = key, .deleted = true, .revision = revision});
  }
  ViewReader reader() const {
    auto opened = ViewReader::open(memory.bytes());
    REQUIRE(opened.ok());
    REQUIRE(opened->begin() == ReadOutcome::kOk);
    return *opened;
  }
  std::string value(ViewReader& reader, const std::string& key) const {
    ViewAnswer answer;
    REQUIRE(reader.get(key, answer) == ReadOutcome::kOk);
    return answer.empty() ? "none" : std::string(answer[0].value);
  }

  GuardedMemory memory;
  std::unique_ptr<GenerationWriter> writer;
};

std::vector<std::string> keys_of(const ViewAnswer& answer) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < answer.size(); ++i) keys.emplace_back(answer[i].key);
  return keys;
}

TEST_CASE("a reader opens what a writer has made, once it has a root") {
  const GuardedMemory zeros(kBytes);
  CHECK(ViewReader::open(zeros.bytes()).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(ViewReader::open({}).status().code() == absl::StatusCode::kInvalidArgument);
  Generation generation;
  CHECK(ViewReader::open(generation.memory.bytes()).status().code() == absl::StatusCode::kUnavailable);
  REQUIRE(generation.writer->publish(5, 0).ok());
  CHECK(generation.reader().revision() == 5);
  CHECK(ViewReader::open(generation.memory.bytes().first(kBytes / 2)).status().code() ==
        absl::StatusCode::kInvalidArgument);
  reinterpret_cast<std::uint64_t*>(generation.memory.bytes().data())[kLayoutWord] = 77;
  CHECK(std::string(ViewReader::open(generation.memory.bytes()).status().message()).find("layout 77") !=
        std::string::npos);
}

TEST_CASE("an empty generation answers everything with nothing") {
  Generation generation;
  REQUIRE(generation.writer->publish(1, 0).ok());
  ViewReader reader = generation.reader();
  ViewAnswer answer;
  CHECK(generation.value(reader, "key") == "none");
  CHECK(reader.range({}, answer) == ReadOutcome::kOk);
  CHECK(reader.changes({.since = 1}, answer) == ReadOutcome::kOk);
  CHECK(answer.empty());
  std::uint64_t count = 7;
  CHECK(reader.count("", "", count) == ReadOutcome::kOk);
  CHECK(count == 0);
}

TEST_CASE("all fields of a key come back, and long keys and values") {
  Generation generation(std::size_t{32} << 20);
  const std::string long_key(1'500'000, 'k');
  const std::string long_value(kViewBytesMax, 'v');
  REQUIRE(generation.writer
              ->apply({.key = long_key, .value = long_value, .revision = 9, .created = 4, .version = 3, .lease = 77})
              .ok());
  REQUIRE(generation.put(long_key + "x", "", 10).ok());
  REQUIRE(generation.writer->publish(10, 0).ok());
  ViewReader reader = generation.reader();
  ViewAnswer answer;
  REQUIRE(reader.get(long_key, answer) == ReadOutcome::kOk);
  REQUIRE(answer.size() == 1);
  CHECK((answer[0].key == long_key && answer[0].value == long_value));
  CHECK(answer[0].revision == 9);
  CHECK(answer[0].created == 4);
  CHECK(answer[0].version == 3);
  CHECK(answer[0].lease == 77);
  answer.clear();
  REQUIRE(reader.range({.begin = long_key}, answer) == ReadOutcome::kOk);
  CHECK(answer.size() == 2);
  CHECK(generation.put(std::string(kViewBytesMax + 1, 'k'), "", 11).code() == absl::StatusCode::kInvalidArgument);
  CHECK(generation.put("", "", 11).code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("a root is at a whole revision, and revisions do not fall") {
  Generation generation;
  REQUIRE(generation.put("a", "1", 8).ok());
  CHECK(generation.writer->publish(7, 0).code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(generation.writer->publish(8, 0).ok());
  CHECK(generation.put("a", "2", 8).code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(generation.put("a", "2", 10).ok());
  CHECK(generation.put("b", "2", 9).code() == absl::StatusCode::kInvalidArgument);
  CHECK(generation.writer->publish(9, 0).code() == absl::StatusCode::kInvalidArgument);
  ViewReader reader = generation.reader();
  CHECK(generation.value(reader, "a") == "1");
}

TEST_CASE("of the changes of a key within a revision the last one counts, once") {
  Generation generation;
  REQUIRE(generation.writer->publish(1, 0).ok());
  REQUIRE(generation.put("a", "1", 2).ok());
  REQUIRE(generation.erase("a", 2).ok());
  REQUIRE(generation.put("a", "3", 2).ok());
  REQUIRE(generation.put("b", "1", 2).ok());
  REQUIRE(generation.erase("b", 2).ok());
  REQUIRE(generation.writer->publish(2, 0).ok());
  ViewReader reader = generation.reader();
  CHECK(generation.value(reader, "a") == "3");
  CHECK(generation.value(reader, "b") == "none");
  ViewAnswer answer;
  REQUIRE(reader.changes({.since = 1}, answer) == ReadOutcome::kOk);
  CHECK(keys_of(answer) == std::vector<std::string>{"a", "b"});
  CHECK(answer[1].deleted);
}

TEST_CASE("a key that is loaded twice is as in its later revision") {
  Generation generation;
  REQUIRE(generation.put("a", "new", 9).ok());
  REQUIRE(generation.put("a", "old", 4).ok());
  REQUIRE(generation.erase("b", 9).ok());
  REQUIRE(generation.put("b", "old", 4).ok());
  REQUIRE(generation.writer->publish(9, 0).ok());
  ViewReader reader = generation.reader();
  CHECK(generation.value(reader, "a") == "new");
  CHECK(generation.value(reader, "b") == "none");
}

TEST_CASE("several keys are of one state, although the writer goes on") {
  Generation generation;
  REQUIRE(generation.put("a", "1", 1).ok());
  REQUIRE(generation.put("b", "1", 1).ok());
  REQUIRE(generation.writer->publish(1, 0).ok());
  ViewReader reader = generation.reader();
  REQUIRE(generation.value(reader, "a") == "1");
  REQUIRE(generation.put("a", "2", 2).ok());
  REQUIRE(generation.erase("b", 2).ok());
  CHECK(generation.value(reader, "b") == "1");
  REQUIRE(generation.writer->publish(2, 0).ok());
  CHECK(generation.value(reader, "b") == "1");
  REQUIRE(reader.begin() == ReadOutcome::kOk);
  CHECK(generation.value(reader, "a") == "2");
  CHECK(generation.value(reader, "b") == "none");
}

TEST_CASE("a range ends at its bounds and says that there is more") {
  Generation generation;
  for (char c = 'a'; c <= 'z'; ++c) REQUIRE(generation.put(std::string("key/") + c, std::string(80, c), 1).ok());
  REQUIRE(generation.put("kez", "", 1).ok());
  REQUIRE(generation.writer->publish(1, 0).ok());
  ViewReader reader = generation.reader();
  ViewAnswer answer;
  REQUIRE(reader.range({.begin = "key/b", .end = "key/e"}, answer) == ReadOutcome::kOk);
  CHECK(keys_of(answer) == std::vector<std::string>{"key/b", "key/c", "key/d"});
  CHECK(!answer.more());
  answer.clear();
  REQUIRE(reader.range({.begin = "key/x", .end = prefix_end("key/"), .limit = 2}, answer) == ReadOutcome::kOk);
  CHECK(keys_of(answer) == std::vector<std::string>{"key/x", "key/y"});
  CHECK(answer.more());
  answer.clear();
  REQUIRE(reader.range({.begin = "", .bytes_max = 200}, answer) == ReadOutcome::kOk);
  CHECK(answer.size() == 2);
  CHECK(answer.more());
  CHECK(prefix_end("a\xff") == "b");
  CHECK(prefix_end("\xff\xff") == "");
  CHECK(prefix_end("") == "");
}

TEST_CASE("who asks for changes that the log has forgotten is told so") {
  Generation generation;
  REQUIRE(generation.put("a", "1", 5).ok());
  REQUIRE(generation.writer->publish(5, 0).ok());
  ViewAnswer answer;
  ViewReader first = generation.reader();
  CHECK(first.changes({.since = 4}, answer) == ReadOutcome::kTooOld);
  const auto entries = static_cast<ViewRevision>(log_entries_in(kBytes));
  for (ViewRevision i = 1; i <= entries; ++i) {
    REQUIRE(generation.put("key" + std::to_string(i % 3), "", 5 + i).ok());
    if (i % 100 == 0) REQUIRE(generation.writer->publish(5 + i, static_cast<std::uint64_t>(i)).ok());
  }
  REQUIRE(generation.writer->publish(5 + entries, 9999).ok());
  ViewReader reader = generation.reader();
  REQUIRE(reader.changes({.since = 5}, answer) == ReadOutcome::kOk);
  CHECK(answer.size() == 3);
  answer.clear();
  REQUIRE(generation.put("a", "", 6 + entries).ok());
  CHECK(reader.changes({.since = 5}, answer) == ReadOutcome::kTooOld);  // it is overwritten before the next root
  REQUIRE(generation.writer->publish(6 + entries, 9999).ok());
  reader = generation.reader();
  CHECK(reader.changes({.since = 5}, answer) == ReadOutcome::kTooOld);
  CHECK(reader.changes({.since = 6}, answer) == ReadOutcome::kOk);
}

TEST_CASE("without room the last root stays readable, and nothing is published any more") {
  Generation generation;
  REQUIRE(generation.put("a", "1", 1).ok());
  REQUIRE(generation.writer->publish(1, 0).ok());
  absl::Status status;
  ViewRevision revision = 1;
  while (status.ok()) {
    ++revision;
    status = generation.put("key" + std::to_string(revision), std::string(5000, 'v'), revision);
    if (status.ok()) REQUIRE(generation.writer->publish(revision, 0).ok());
  }
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(std::string(status.message()).find("is full") != std::string::npos);
  CHECK(generation.writer->nearly_full());
  CHECK(generation.writer->publish(revision, 0).code() == absl::StatusCode::kResourceExhausted);
  ViewReader reader = generation.reader();
  CHECK(reader.revision() == revision - 1);
  CHECK(generation.value(reader, "a") == "1");
  CHECK(generation.value(reader, "key" + std::to_string(revision)) == "none");
}

TEST_CASE("nothing is used again before the grace, nor while little is retired") {
  Generation generation;
  const auto mark = [&] {
    return reinterpret_cast<const std::uint64_t*>(generation.memory.bytes().data())[kMarkWord];
  };
  const std::string value(10'000, 'v');
  ViewRevision revision = 1;
  for (; revision <= 30; ++revision) {
    REQUIRE(generation.put("a", value, revision).ok());
    REQUIRE(generation.writer->publish(revision, 1000).ok());
  }
  CHECK(mark() == 0);
  REQUIRE(generation.writer->publish(revision, 1000 + kGraceMs).ok());
  CHECK(mark() == 0);  // that is less than an eighth
  for (++revision; revision <= 80; ++revision) {
    REQUIRE(generation.put("a", value, revision).ok());
    REQUIRE(generation.writer->publish(revision, 1001 + kGraceMs).ok());
  }
  CHECK(mark() > 0);
  CHECK(mark() <= 30);
}

TEST_CASE("a reader of a generation that is given up is told so, also by zeros") {
  Generation generation;
  for (int i = 0; i < 100; ++i) REQUIRE(generation.put("key" + std::to_string(i), "v", 1).ok());
  REQUIRE(generation.writer->publish(1, 0).ok());
  ViewReader reader = generation.reader();
  GenerationWriter::mark_gone(generation.memory.bytes());
  const auto rest = generation.memory.bytes().subspan(4096);
  REQUIRE(::madvise(rest.data(), rest.size(), MADV_DONTNEED) == 0);
  ViewAnswer answer;
  std::uint64_t count = 0;
  CHECK(reader.get("key1", answer) == ReadOutcome::kGone);
  CHECK(reader.range({}, answer) == ReadOutcome::kGone);
  CHECK(reader.count("", "", count) == ReadOutcome::kGone);
  CHECK(reader.changes({.since = 1}, answer) == ReadOutcome::kGone);
  CHECK(reader.begin() == ReadOutcome::kGone);
  CHECK(answer.empty());
  auto late = ViewReader::open(generation.memory.bytes());
  REQUIRE(late.ok());
  CHECK(late->begin() == ReadOutcome::kGone);
}

TEST_CASE("a generation in a memfd is read through another descriptor, and its pages are given back") {
  const auto fd = create_generation_memory(kBytes);
  REQUIRE(fd.ok());
  auto written = Segment::map(fd->get(), Segment::Access::kReadWrite);
  REQUIRE(written.ok());
  auto writer = GenerationWriter::create(written->bytes(), {.seed = 1});
  REQUIRE(writer.ok());
  REQUIRE((*writer)->apply({.key = "a", .value = "1", .revision = 1, .created = 1, .version = 1}).ok());
  REQUIRE((*writer)->publish(1, 0).ok());
  const auto shown = read_only_generation(fd->get());
  REQUIRE(shown.ok());
  CHECK(!Segment::map(shown->get(), Segment::Access::kReadWrite).ok());
  const auto read = Segment::map(shown->get(), Segment::Access::kReadOnly);
  REQUIRE(read.ok());
  auto reader = ViewReader::open(read->bytes());
  REQUIRE(reader.ok());
  REQUIRE(reader->begin() == ReadOutcome::kOk);
  ViewAnswer answer;
  REQUIRE(reader->get("a", answer) == ReadOutcome::kOk);
  CHECK(answer.size() == 1);
  GenerationWriter::mark_gone(written->bytes());
  std::uint64_t offset = 0;
  for (bool done = false; !done;) {
    const auto punched = punch_some(fd->get(), offset);
    REQUIRE(punched.ok());
    done = *punched;
  }
  CHECK(offset == kBytes);
  CHECK(std::all_of(read->bytes().begin() + 4096, read->bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
  CHECK(reader->get("a", answer) == ReadOutcome::kGone);
  CHECK(reader->begin() == ReadOutcome::kGone);
}

// Of 100,000 keys some one pair has the same 32 bits, if these are as good as random ones; 500 keys to a slot.
TEST_CASE("keys that are alike have hashes that are not") {
  constexpr std::size_t kKeys = 100'000;
  for (const std::size_t bytes : {5, 8, 12, 16, 17, 40}) {
    std::vector<std::uint32_t> tags;
    std::vector<std::size_t> slots(kKeys / 500);
    for (std::size_t i = 0; i < kKeys; ++i) {
      const std::string digits = std::to_string(i);
      const std::string key = std::string(bytes - 5, '/') + std::string(5 - digits.size(), '0') + digits;
      tags.push_back(tag_of(key_hash(key, 7)));
      ++slots[tags.back() % slots.size()];
    }
    std::sort(tags.begin(), tags.end());
    std::size_t met = 0;
    for (std::size_t i = 1; i < kKeys; ++i) met += tags[i] == tags[i - 1];
    CHECK(met < 20);
    CHECK(*std::max_element(slots.begin(), slots.end()) < 700);
    CHECK(*std::min_element(slots.begin(), slots.end()) > 300);
  }
}

TEST_CASE("sizes that no generation has are refused") {
  CHECK(create_generation_memory(4096).status().code() == absl::StatusCode::kInvalidArgument);
  const GuardedMemory memory(kBytes);
  CHECK(GenerationWriter::create(memory.bytes().first(4096), {}).status().code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(GenerationWriter::create(memory.bytes(), {.expected_keys = 10'000'000}).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ingot::test
