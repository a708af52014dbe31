// A queue in one vector. Once the vector has grown to the size that the queue needs, the queue allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ingot::simulation {

// Not thread-safe.
template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }

  void push(T item) { items_.push_back(std::move(item)); }

  T pop() {
    T item = std::move(items_[first_]);
    ++first_;
    if (empty()) {
      clear();
    } else if (first_ >= kCompactAt && 2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    return item;
  }

  void clear() {
    items_.clear();
    first_ = 0;
  }

 private:
  static constexpr std::size_t kCompactAt = 32;  // places

  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace ingot::simulation
