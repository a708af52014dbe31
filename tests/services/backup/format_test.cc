// The file of a backup: its length, what it holds, and every way in which it can be damaged.
#include "services/backup/format.h"

#include <catch2/catch.hpp>
#include <string>

#include "services/backup/sha256.h"

namespace ingot {
namespace {

using Catch::Matchers::Contains;

std::string file_of(BackupHeader header, const std::string& content) {
  header.content_bytes = content.size();
  std::string file = encode(header) + content + std::string(backup_padding_bytes(content.size()), '\0');
  Sha256 hash;
  hash.add(file);
  return file + hash.digest();
}

const BackupHeader kHeader{
    .cluster_id = 7, .made_unix_ms = 1'700'000'000'000, .revision = 9, .compacted = 3, .records = 2, .content_bytes = 0};

TEST_CASE("SHA-256 is that of the standard, in however many parts the bytes come") {
  Sha256 hash;
  hash.add("a");
  hash.add("");
  hash.add("bc");
  const std::string digest = hash.digest();
  REQUIRE(digest.size() == kSha256Bytes);
  CHECK(digest.substr(0, 4) == "\xba\x78\x16\xbf");  // FIPS 180-4, the example "abc"
  CHECK(digest.substr(28) == std::string("\xf2\x00\x15\xad", 4));
}

TEST_CASE("a file has what was put in, and the length by which etcd's clients know a snapshot with its checksum") {
  for (const std::size_t bytes : {1u, 41u, 447u, 448u, 449u, 5000u}) {
    const std::string content(bytes, 'c');
    const std::string file = file_of(kHeader, content);
    CHECK(file.size() == backup_file_bytes(bytes));
    CHECK(file.size() % 512 == 32);
    const auto read = read_backup(file);
    REQUIRE(read.ok());
    CHECK(read->content == content);
    CHECK(read->header.revision == 9);
    CHECK(read->header.compacted == 3);
    CHECK(read->header.cluster_id == 7);
    CHECK(read->header.made_unix_ms == kHeader.made_unix_ms);
    CHECK(read->sha256.size() == 2 * kSha256Bytes);
  }
}

TEST_CASE("a file that was cut, lengthened or changed in one bit is refused with a sentence") {
  const std::string file = file_of(kHeader, "the content");
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    INFO("cut to " << bytes);
    REQUIRE_THAT(std::string(read_backup(file.substr(0, bytes)).status().message()), Contains("it is cut short"));
  }
  CHECK_THAT(std::string(read_backup(file + "x").status().message()), Contains("bytes follow its end"));
  for (std::size_t i = 0; i < file.size() * 8; ++i) {
    std::string changed = file;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    INFO("bit " << i);
    REQUIRE_FALSE(read_backup(changed).ok());
  }
}

TEST_CASE("the header can be read of a file's first bytes alone") {
  const std::string file = file_of(kHeader, "the content");
  const auto header = read_backup_header(file.substr(0, kBackupHeaderBytes));
  REQUIRE(header.ok());
  CHECK(*header == read_backup(file)->header);
  CHECK_FALSE(read_backup_header(file.substr(0, kBackupHeaderBytes - 1)).ok());
  CHECK_FALSE(read_backup_header(std::string(kBackupHeaderBytes, 'x')).ok());
}

TEST_CASE("other files are told apart") {
  CHECK_THAT(std::string(read_backup(std::string(4096, 'x')).status().message()), Contains("it is another format"));
  std::string later = file_of(kHeader, "the content");
  later[8] = 2;
  CHECK_THAT(std::string(read_backup(later).status().message()), Contains("its format has version 2"));
}

}  // namespace
}  // namespace ingot
