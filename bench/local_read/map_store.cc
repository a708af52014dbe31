// absl::flat_hash_map of the reading process: find and copy; for ranges a std::map. Alone, or behind a shared lock.
#include <map>
#include <mutex>
#include <shared_mutex>

#include "absl/container/flat_hash_map.h"
#include "bench/local_read/stores.h"

namespace ingot::bench {
namespace {

class MapStore final : public ReadStore {
 public:
  explicit MapStore(bool locked) : locked_(locked) {}

  void load(const std::vector<std::string>& keys, const std::string& value) override {
    for (const std::string& key : keys) {
      map_.emplace(key, value);
      ordered_.emplace_hint(ordered_.end(), key, value);
    }
  }

  std::size_t get(const std::string& key) override {
    std::shared_lock lock(mutex_, std::defer_lock);
    if (locked_) lock.lock();
    value_ = map_.find(key)->second;
    return value_.size();
  }

  std::size_t range(const std::string& key, std::size_t count) override {
    std::shared_lock lock(mutex_, std::defer_lock);
    if (locked_) lock.lock();
    bytes_.clear();
    for (auto it = ordered_.lower_bound(key); it != ordered_.end() && count > 0; ++it, --count) {
      bytes_ += it->first;
      bytes_ += it->second;
    }
    return bytes_.size();
  }

  bool put(const std::string& key, const std::string& value) override {
    if (!locked_) return false;
    const std::unique_lock lock(mutex_);
    map_[key] = value;
    ordered_[key] = value;
    return true;
  }

 private:
  const bool locked_;
  std::shared_mutex mutex_;
  absl::flat_hash_map<std::string, std::string> map_;
  std::map<std::string, std::string> ordered_;
  std::string value_;
  std::string bytes_;
};

}  // namespace

std::unique_ptr<ReadStore> make_map_store(bool locked) { return std::make_unique<MapStore>(locked); }

}  // namespace ingot::bench
