// The kernel's table of a process's open files.
#pragma once

namespace ingot::inline services_launch {

// Makes the table as large as the limit of open files, and at most kDescriptorTableMax. The kernel enlarges it step by
// step as descriptors are opened. In a process with threads each step waits until no other core looks at the old table,
// which takes 10 ms and more, and the thread that accepts a connection does nothing else meanwhile. To be called while
// the process has one thread: then the kernel does not wait. Without a descriptor or memory nothing is changed.
void grow_descriptor_table();

}  // namespace ingot::services_launch
