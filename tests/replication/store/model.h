// A simple model of the store: a full copy of the keys for every revision, and every rule written out. Shares nothing
// with the implementation but the structs of replication/store/api.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "replication/store/api.h"

namespace ingot::kv {

class Model {
 public:
  // Runs any request but a hash.
  Result run(const Request& request);

  Revision revision() const { return static_cast<Revision>(copies_.size()) - 1; }
  Revision compacted() const { return compacted_; }
  std::size_t live_keys() const { return copies_.back().size(); }

 private:
  using Keys = std::map<std::string, KeyValue>;

  Code put(Keys& keys, const PutRequest& r, PutResult& result);
  void remove(Keys& keys, const DeleteRangeRequest& r, DeleteRangeResult& result);
  Code check_range(const RangeRequest& r) const;
  RangeResult range(const Keys& newest, const RangeRequest& r) const;
  Code txn(const TxnRequest& r, TxnResult& result);
  bool holds(const Compare& compare) const;
  Code check_puts(const std::vector<Operation>& operations) const;
  Code check_ranges(const std::vector<Operation>& operations) const;
  const std::vector<Operation>& branch(const TxnRequest& r) const;
  Code execute(Keys& keys, const TxnRequest& r, TxnResult& result);
  Code execute(Keys& keys, const Operation& operation, OperationResult& result);

  std::vector<Keys> copies_{Keys{}, Keys{}};  // index = revision; there is no revision 0
  Revision compacted_ = -1;
  bool changed_ = false;  // the running transaction has written a key
};

}  // namespace ingot::kv
