// Shorthand for requests to a store in tests.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "replication/store/kv_store.h"

namespace ingot::kv {

inline PutRequest put_of(std::string key, std::string value) {
  PutRequest r;
  r.key = std::move(key);
  r.value = std::move(value);
  return r;
}

inline RangeRequest range_of(std::string key, std::string range_end = "") {
  RangeRequest r;
  r.key = std::move(key);
  r.range_end = std::move(range_end);
  return r;
}

inline DeleteRangeRequest delete_of(std::string key, std::string range_end = "") {
  DeleteRangeRequest r;
  r.key = std::move(key);
  r.range_end = std::move(range_end);
  return r;
}

inline RangeRequest everything() { return range_of(std::string(1, '\0'), std::string(1, '\0')); }

// A key that sorts by its number.
inline std::string numbered_key(int n) {
  char key[16];
  std::snprintf(key, sizeof key, "key%06d", n);
  return key;
}

inline Result run(KvStore& store, const Request& request) {
  return *decode_result(store.apply(Slot(0), encode(request)));
}

inline Result ask(const KvStore& store, const Request& request) {
  return *decode_result(store.query(encode(request)));
}

}  // namespace ingot::kv
