#include "services/etcd/definitions.h"

#include <functional>
#include <set>

#include <google/protobuf/descriptor.pb.h>

namespace ingot::etcd {

namespace gp = google::protobuf;

namespace {

void append_with_imports(const gp::FileDescriptor& file, std::set<const gp::FileDescriptor*>& seen,
                         std::vector<std::string>& encoded) {
  if (!seen.insert(&file).second) return;
  gp::FileDescriptorProto definition;
  file.CopyTo(&definition);
  encoded.push_back(definition.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) append_with_imports(*file.dependency(i), seen, encoded);
}

}  // namespace

Definitions::Definitions(const std::vector<std::string>& services) {
  for (const std::string& name : services) {
    const auto* service = gp::DescriptorPool::generated_pool()->FindServiceByName(name);
    if (service != nullptr) add(*service->file());
  }
}

void Definitions::add(const gp::FileDescriptor& file) {
  std::vector<std::string>& encoded = files_[file.name()];
  if (!encoded.empty()) return;
  std::set<const gp::FileDescriptor*> seen;
  append_with_imports(file, seen, encoded);
  for (int i = 0; i < file.service_count(); ++i) {
    const gp::ServiceDescriptor& service = *file.service(i);
    file_of_[service.full_name()] = file.name();
    for (int k = 0; k < service.method_count(); ++k) file_of_[service.method(k)->full_name()] = file.name();
  }
  for (int i = 0; i < file.message_type_count(); ++i) add_symbols(*file.message_type(i), file.name());
  for (int i = 0; i < file.enum_type_count(); ++i) file_of_[file.enum_type(i)->full_name()] = file.name();
  for (int i = 0; i < file.dependency_count(); ++i) add(*file.dependency(i));
}

void Definitions::add_symbols(const gp::Descriptor& message, const std::string& file) {
  file_of_[message.full_name()] = file;
  for (int i = 0; i < message.field_count(); ++i) file_of_[message.field(i)->full_name()] = file;
  for (int i = 0; i < message.enum_type_count(); ++i) file_of_[message.enum_type(i)->full_name()] = file;
  for (int i = 0; i < message.nested_type_count(); ++i) add_symbols(*message.nested_type(i), file);
}

const std::vector<std::string>* Definitions::file(std::string_view name) const {
  const auto found = files_.find(name);
  return found == files_.end() ? nullptr : &found->second;
}

const std::vector<std::string>* Definitions::file_of(std::string_view symbol) const {
  const auto found = file_of_.find(symbol);
  return found == file_of_.end() ? nullptr : file(found->second);
}

}  // namespace ingot::etcd
