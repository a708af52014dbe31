// glibc 2.36 declares its pidfd functions without extern "C".
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
