// LMDB in a file of /dev/shm, without syncing: a read transaction that is renewed for each read.
#include <lmdb.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>

#include "bench/local_read/stores.h"
#include "core/check.h"

namespace ingot::bench {
namespace {

void must(int result) {
  if (result == MDB_SUCCESS) return;
  std::fprintf(stderr, "local_read: LMDB: %s\n", mdb_strerror(result));
  std::abort();
}

MDB_val value_of(const std::string& bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }

class LmdbStore final : public ReadStore {
 public:
  explicit LmdbStore(std::size_t bytes) {
    char folder[] = "/dev/shm/local-read-XXXXXX";
    INGOT_CHECK(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    must(mdb_env_create(&env_));
    must(mdb_env_set_mapsize(env_, bytes));
    must(mdb_env_open(env_, folder, MDB_NOSYNC | MDB_NOMETASYNC | MDB_NOTLS, 0600));
  }
  ~LmdbStore() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (read_ != nullptr) mdb_txn_abort(read_);
    mdb_env_close(env_);
    std::filesystem::remove_all(folder_);
  }

  void load(const std::vector<std::string>& keys, const std::string& value) override {
    MDB_txn* write = nullptr;
    must(mdb_txn_begin(env_, nullptr, 0, &write));
    must(mdb_dbi_open(write, nullptr, 0, &table_));
    for (const std::string& key : keys) {
      MDB_val to = value_of(key);
      MDB_val content = value_of(value);
      must(mdb_put(write, table_, &to, &content, MDB_APPEND));
    }
    must(mdb_txn_commit(write));
    must(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &read_));
    must(mdb_cursor_open(read_, table_, &cursor_));
    mdb_txn_reset(read_);
  }

  std::size_t get(const std::string& key) override {
    must(mdb_txn_renew(read_));
    MDB_val from = value_of(key);
    MDB_val content;
    must(mdb_get(read_, table_, &from, &content));
    value_.assign(static_cast<const char*>(content.mv_data), content.mv_size);
    mdb_txn_reset(read_);
    return value_.size();
  }

  std::size_t range(const std::string& key, std::size_t count) override {
    must(mdb_txn_renew(read_));
    must(mdb_cursor_renew(read_, cursor_));
    bytes_.clear();
    MDB_val from = value_of(key);
    MDB_val content;
    int found = mdb_cursor_get(cursor_, &from, &content, MDB_SET_RANGE);
    for (; found == MDB_SUCCESS && count > 0; --count) {
      bytes_.append(static_cast<const char*>(from.mv_data), from.mv_size);
      bytes_.append(static_cast<const char*>(content.mv_data), content.mv_size);
      if (count > 1) found = mdb_cursor_get(cursor_, &from, &content, MDB_NEXT);
    }
    mdb_txn_reset(read_);
    return bytes_.size();
  }

  bool put(const std::string& key, const std::string& value) override {
    MDB_txn* write = nullptr;
    must(mdb_txn_begin(env_, nullptr, 0, &write));
    MDB_val to = value_of(key);
    MDB_val content = value_of(value);
    must(mdb_put(write, table_, &to, &content, 0));
    must(mdb_txn_commit(write));
    return true;
  }

 private:
  std::string folder_;
  MDB_env* env_ = nullptr;
  MDB_dbi table_ = 0;
  MDB_txn* read_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  std::string value_;
  std::string bytes_;
};

}  // namespace

std::unique_ptr<ReadStore> make_lmdb_store(std::size_t bytes) { return std::make_unique<LmdbStore>(bytes); }

}  // namespace ingot::bench
