// For systems whose kernel has no keyrings for programs: every function fails with ENOSYS.
#ifndef ENROLL_CPOSIX_NO_KEYRING_H
#define ENROLL_CPOSIX_NO_KEYRING_H
static const int enroll_posix_key_find = 0;
static const int enroll_posix_key_set_timeout = 0;
static const int enroll_posix_key_set_permissions = 0;
static const int enroll_posix_key_link = 0;
static const int enroll_posix_key_unlink = 0;
static inline long enroll_posix_keyctl(int operation, long a, long b) {
  (void)operation, (void)a, (void)b;
  errno = ENOSYS;
  return -1;
}
static inline long enroll_posix_key_add(const char *name, const void *content, size_t size) {
  (void)name, (void)content, (void)size;
  errno = ENOSYS;
  return -1;
}
static inline long enroll_posix_key_search(const char *name) {
  (void)name;
  errno = ENOSYS;
  return -1;
}
static inline long enroll_posix_key_read(long key, void *content, size_t size) {
  (void)key, (void)content, (void)size;
  errno = ENOSYS;
  return -1;
}
#endif
