// What a process on the same machine may read keys from: a view's generation, a hash map of its own, one behind a lock,
// LMDB, and Redis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::bench {

// One thread reads, another one writes.
class ReadStore {
 public:
  virtual ~ReadStore() = default;

  // Before any other call. The keys ascend.
  virtual void load(const std::vector<std::string>& keys, const std::string& value) = 0;

  // Of the reading thread. get() finds the key and copies its value; range() copies `count` keys and values from a key
  // on, or as many as there are. Both return the bytes of values.
  virtual std::size_t get(const std::string& key) = 0;
  virtual std::size_t range(const std::string& key, std::size_t count) = 0;

  virtual bool has_ranges() const { return true; }

  // Of the writing thread: overwrites a value; then others see it. False: there are no writes beside reads.
  virtual bool put(const std::string& key, const std::string& value) = 0;
};

// "view", "map", "locked_map", "lmdb", "redis". `bytes`: what a store may take at most.
std::unique_ptr<ReadStore> make_view_store(std::size_t bytes);
std::unique_ptr<ReadStore> make_map_store(bool locked);
std::unique_ptr<ReadStore> make_lmdb_store(std::size_t bytes);
std::unique_ptr<ReadStore> make_redis_store();

}  // namespace ingot::bench
