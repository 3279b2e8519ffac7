// The back end for Linux, with glibc or musl. Functions that only GNU headers declare are declared here by hand.
#ifndef ENROLL_CPOSIX_LINUX_H
#define ENROLL_CPOSIX_LINUX_H
#include <linux/keyctl.h>
#include <malloc.h>
#include <sys/random.h>

#include "kernel.h"

#ifdef __GLIBC__
int renameat2(int from, const char *old, int to, const char *name, unsigned flags);
#define ENROLL_SYSTEM_RENAME renameat2
#else
#define ENROLL_SYSTEM_RENAME(...) syscall(SYS_renameat2, __VA_ARGS__)
#endif

// Closes every descriptor from `first` on. Returns -1 if the kernel has no such call (before 5.9) or a filter refuses it.
static inline int enroll_system_close_from(unsigned first) {
  const long close_range = 436;
  return (int)syscall(close_range, first, ~0U, 0U);
}

// Copies at most `size` random bytes of the kernel's generator. Returns their number, or -1 with errno.
static inline ssize_t enroll_posix_random(void *bytes, size_t size) { return getrandom(bytes, size, 0); }

// Renames a file, but never replaces an existing file. Returns 0, or -1 with errno; errno is EEXIST if the new name
// exists. If the kernel or the filesystem does not have that operation, this function makes a link and then removes the
// old name, in two steps.
static inline int enroll_posix_rename_new(int folder, const char *old, const char *name) {
  const unsigned no_replace = 1;  // RENAME_NOREPLACE
  if (ENROLL_SYSTEM_RENAME(folder, old, folder, name, no_replace) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  return linkat(folder, old, folder, name, 0) == 0 ? unlinkat(folder, old, 0) : -1;
}

// The reason why this program has no kernel keyrings; NULL if the kernel may have them.
static inline const char *enroll_posix_missing_keyring(void) { return NULL; }
// The kernel's keyrings (keyctl(2)), which the C library does not wrap. All keys are of type "user".
static const int enroll_posix_key_find = KEYCTL_GET_KEYRING_ID;
static const int enroll_posix_key_set_timeout = KEYCTL_SET_TIMEOUT;
static const int enroll_posix_key_set_permissions = KEYCTL_SETPERM;
static const int enroll_posix_key_link = KEYCTL_LINK;
static const int enroll_posix_key_unlink = KEYCTL_UNLINK;
static inline long enroll_posix_keyctl(int operation, long a, long b) { return syscall(SYS_keyctl, operation, a, b, 0L, 0L); }
// Adds a key to the keyring of this thread. The keyring ends with the thread.
static inline long enroll_posix_key_add(const char *name, const void *content, size_t size) {
  return syscall(SYS_add_key, "user", name, content, size, (long)KEY_SPEC_THREAD_KEYRING);
}
// Searches the keyring of the user.
static inline long enroll_posix_key_search(const char *name) {
  return syscall(SYS_keyctl, KEYCTL_SEARCH, (long)KEY_SPEC_USER_KEYRING, "user", name, 0L);
}
// Copies at most `size` bytes of a key's content. Returns the length of the whole content, or -1.
static inline long enroll_posix_key_read(long key, void *content, size_t size) {
  return syscall(SYS_keyctl, KEYCTL_READ, key, content, size);
}

// Makes all threads use one heap, which grows in steps of 256 KiB. musl has only one heap.
static inline void enroll_posix_share_heap(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 256 * 1024);
#endif
}

// Makes glibc return blocks of 64 KiB and more to the system as soon as they are freed. By default glibc raises that
// limit by itself, up to 32 MiB, and then keeps the memory of many large request bodies that were in memory at the same
// time.
static inline void enroll_posix_return_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
  mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

#ifdef __GLIBC__
// The words of the command line; their number is stored in `*count`. The kernel puts the number and then the pointers
// to the words at the end of the stack, and glibc's loader stores the address of that place. Returns NULL if another
// loader started the program.
static inline char **enroll_posix_command_words(long *count) {
  void *const *end = (void *const *)dlsym(NULL, "__libc_stack_end");  // NULL is RTLD_DEFAULT
  if (!end || !*end) return NULL;
  *count = *(const long *)*end;
  return (char **)*end + 1;
}
#else
#include "words.h"
#endif
#endif
