// The back end for Android from API level 24. Android's system call filter kills an app that calls keyctl(2) or
// add_key(2). Before level 30 it also kills an app that calls renameat2(2); the C library has that function only from
// level 30 on. SELinux refuses linkat(2). This file calls these functions only where they are allowed.
#ifndef ENROLL_CPOSIX_ANDROID_H
#define ENROLL_CPOSIX_ANDROID_H
#include "kernel.h"
#include "no-keyring.h"
#include "rename-locked.h"
#include "words.h"

// Fills `bytes` from the C library's random generator, which the kernel seeds. getrandom(2) exists only from level 28
// on.
static inline ssize_t enroll_posix_random(void *bytes, size_t size) {
  arc4random_buf(bytes, size);
  return (ssize_t)size;
}

// Renames a file, but not over an existing one. Returns 0, or -1 with errno; EEXIST if the new name exists. From level
// 30 on, the C library has renameat2(2) and the filter allows it. Before level 30, and on filesystems that do not
// support renameat2(2), rename-locked.h renames the file.
static inline int enroll_posix_rename_new(int folder, const char *old, const char *name) {
  const unsigned no_replace = 1;  // RENAME_NOREPLACE
  int (*rename_if)(int, const char *, int, const char *, unsigned) =
      (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_DEFAULT, "renameat2");
  if (rename_if) {
    if (rename_if(folder, old, folder, name, no_replace) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
  }
  return enroll_system_rename_locked(folder, old, name);
}

// Returns -1 without a system call, because the filter kills an app that calls close_range(2).
static inline int enroll_system_close_from(unsigned first) { return -1; }

static inline const char *enroll_posix_missing_keyring(void) { return "Android does not let apps use the kernel's keyrings"; }

static inline void enroll_posix_share_heap(void) {}
static inline void enroll_posix_return_memory(void) {}
#endif
