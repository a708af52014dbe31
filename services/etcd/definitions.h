// The definitions of services as Protocol Buffers has them in this program, for reflection.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace ingot::etcd {

// Immutable, so it may be used by any thread. It is asked by strangers, so all answers are made beforehand: a look-up
// in the pool itself would parse definitions, and the pool keeps each name that it was asked for in vain.
class Definitions {
 public:
  // Of those services that the program has definitions of, with the files that these import.
  explicit Definitions(const std::vector<std::string>& services);

  // A FileDescriptorProto for the file and for each file that it imports, encoded; null: there is no such file, or none
  // that defines the symbol, which is the full name of a service, a method, a message, a field or an enumeration.
  const std::vector<std::string>* file(std::string_view name) const;
  const std::vector<std::string>* file_of(std::string_view symbol) const;

 private:
  void add(const google::protobuf::FileDescriptor& file);
  void add_symbols(const google::protobuf::Descriptor& message, const std::string& file);

  std::map<std::string, std::vector<std::string>, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> file_of_;  // by symbol
};

}  // namespace ingot::etcd
