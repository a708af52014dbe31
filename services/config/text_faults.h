// What is wrong with the text of a setting, as a sentence; empty: nothing. Thread-safe.
#pragma once

#include <string>

namespace ingot::inline services_config {

// A name of an instance stands in logs, labels and names of sockets and files: at most kInstanceNameBytesMax bytes of
// UTF-8 text without control characters and "/". The empty text stands for the default and has no fault.
std::string fault_in_instance_name(const std::string& text);

// A version that clients of etcd can read: three numbers, "3.6.0".
std::string fault_in_version(const std::string& text);

// Where clients find an instance: "http://HOST:PORT" or "unix:PATH" (as text: "unix://PATH"), several with commas. The
// empty text stands for the default and has no fault.
std::string fault_in_client_urls(const std::string& text);

// The path of a Unix socket: absolute, at most kSocketPathBytesMax bytes of UTF-8 text without control characters, and
// no folder. kAutomaticSocket and the empty text have no fault.
std::string fault_in_socket_path(const std::string& text);

// A file's rights to read and write, for its user, group and others: three octal digits, with or without a 0 in front.
std::string fault_in_socket_mode(const std::string& text);

}  // namespace ingot::services_config
