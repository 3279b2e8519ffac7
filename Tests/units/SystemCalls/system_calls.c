#define _GNU_SOURCE
#include "system_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static __thread struct {
  system_call_plan plan;
  int is_watching;
  long count;
} here;

void system_calls_begin(system_call_plan plan) {
  here.plan = plan;
  here.count = 0;
  here.is_watching = 1;
}

long system_calls_end(void) {
  here.is_watching = 0;
  return here.count;
}

void system_calls_say(int descriptor, const void *bytes, size_t count) {
  (void)!syscall(SYS_write, descriptor, bytes, count);
}

static int is_reached(void) {
  return here.plan.at != 0 &&
         (here.count == here.plan.at || (here.plan.lasts && here.count > here.plan.at));
}

// Applies the plan before the call. Returns 1 and sets errno if the call must fail; may lower `limit`, the number of
// bytes that the call moves at most.
static int fails(const char *name, size_t *limit) {
  if (!here.is_watching || (here.plan.only != NULL && strcmp(here.plan.only, name) != 0)) return 0;
  here.count++;
  if (!is_reached()) return 0;
  if (here.plan.kills_before) kill(getpid(), SIGKILL);
  if (here.plan.number != 0) {
    errno = here.plan.number;
    return 1;
  }
  if (limit != NULL && here.plan.limit >= 0 && *limit > (size_t)here.plan.limit) *limit = here.plan.limit;
  return 0;
}

static void passed(const char *name) {
  if (!here.is_watching || !here.plan.kills_after) return;
  if (here.plan.only != NULL && strcmp(here.plan.only, name) != 0) return;
  if (is_reached()) kill(getpid(), SIGKILL);
}

#define REAL(type, name, ...)                                     \
  static type (*real)(__VA_ARGS__);                               \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

// Defines one call. `refusal` is its result if it must fail.
#define CALL(type, name, parameters, arguments, refusal)          \
  type name parameters {                                          \
    static type(*real) parameters;                                \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (fails(#name, NULL)) return refusal;                       \
    type result = real arguments;                                 \
    int number = errno;                                           \
    passed(#name);                                                \
    errno = number;                                               \
    return result;                                                \
  }

CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
CALL(int, ftruncate, (int fd, off_t size), (fd, size), -1)
CALL(int, fsync, (int fd), (fd), -1)
CALL(int, renameat, (int from, const char *old, int to, const char *name), (from, old, to, name), -1)
CALL(int, renameat2, (int from, const char *old, int to, const char *name, unsigned int flags),
     (from, old, to, name, flags), -1)
CALL(int, linkat, (int from, const char *old, int to, const char *name, int flags), (from, old, to, name, flags), -1)
CALL(int, unlinkat, (int folder, const char *name, int flags), (folder, name, flags), -1)
CALL(int, fstat, (int fd, struct stat *status), (fd, status), -1)
CALL(int, fstatat, (int folder, const char *name, struct stat *status, int flags), (folder, name, status, flags), -1)
CALL(int, fstatfs, (int fd, struct statfs *information), (fd, information), -1)
CALL(int, flock, (int fd, int operation), (fd, operation), -1)
CALL(int, posix_fallocate, (int fd, off_t from, off_t size), (fd, from, size), errno)
CALL(DIR *, fdopendir, (int fd), (fd), NULL)
CALL(struct dirent *, readdir, (DIR *stream), (stream), NULL)

// The descriptor is closed even if close returns an error (close(2)).
int close(int fd) {
  REAL(int, close, int);
  int isRefused = fails("close", NULL);
  int number = errno;
  int result = real(fd);
  if (isRefused) {
    errno = number;
    return -1;
  }
  passed("close");
  return result;
}

int closedir(DIR *stream) {
  REAL(int, closedir, DIR *);
  int isRefused = fails("closedir", NULL);
  int number = errno;
  int result = real(stream);
  if (isRefused) {
    errno = number;
    return -1;
  }
  passed("closedir");
  return result;
}

#define MOVING(name, parameters, arguments)                       \
  ssize_t name parameters {                                       \
    static ssize_t(*real) parameters;                             \
    if (real == NULL) real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (fails(#name, &count)) return -1;                          \
    ssize_t result = real arguments;                              \
    int number = errno;                                           \
    passed(#name);                                                \
    errno = number;                                               \
    return result;                                                \
  }

MOVING(read, (int fd, void *bytes, size_t count), (fd, bytes, count))
MOVING(write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
MOVING(pread, (int fd, void *bytes, size_t count, off_t at), (fd, bytes, count, at))

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(rest, int) : 0;
}

int open(const char *path, int flags, ...) {
  REAL(int, open, const char *, int, ...);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (fails("open", NULL)) return -1;
  int result = real(path, flags, mode);
  int number = errno;
  passed("open");
  errno = number;
  return result;
}

int openat(int folder, const char *path, int flags, ...) {
  REAL(int, openat, int, const char *, int, ...);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (fails("openat", NULL)) return -1;
  int result = real(folder, path, flags, mode);
  int number = errno;
  passed("openat");
  errno = number;
  return result;
}

int fcntl(int fd, int operation, ...) {
  REAL(int, fcntl, int, int, ...);
  va_list rest;
  va_start(rest, operation);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  if (fails("fcntl", NULL)) return -1;
  return real(fd, operation, argument);
}
