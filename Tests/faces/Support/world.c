/* A library that is preloaded into a process under test. It controls the process's clock, and can kill or stop the
 * process at a given point. Variables in the environment:
 *
 *   WORLD_CLOCK=FILE   a file with two int64, which is mapped: nanoseconds added to CLOCK_BOOTTIME and to
 *                      CLOCK_REALTIME. Threads wait by CLOCK_MONOTONIC, which does not change: to the process it looks
 *                      as if the machine had slept.
 *   WORLD_KILL="before|after OPERATION SUFFIX COUNT"
 *                      SIGKILL at the process's COUNT-th OPERATION (flock, fsync, posix_fallocate or renameat) on a
 *                      path that ends with SUFFIX. `after` counts only calls that succeeded. Of flock, only calls that
 *                      take a lock count.
 *   WORLD_STOP=…       the same, with SIGSTOP.
 *   WORLD_TRACE=FILE   writes these operations as lines to FILE, which helps to choose such a point. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *offsets;
static struct {
  char when[8], operation[24], suffix[64];
  int signal;
  atomic_int left;
} moment;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("WORLD_CLOCK"), *lines = getenv("WORLD_TRACE");
  const char *death = getenv("WORLD_KILL"), *point = death != NULL ? death : getenv("WORLD_STOP");
  int count = 0;
  if (path != NULL) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *place = mmap(NULL, 2 * sizeof *offsets, PROT_READ, MAP_SHARED, file, 0);
    if (place == MAP_FAILED) abort();
    offsets = place;
    close(file);
  }
  if (point != NULL && sscanf(point, "%7s %23s %63s %d", moment.when, moment.operation, moment.suffix, &count) != 4)
    abort();
  moment.signal = death != NULL ? SIGKILL : SIGSTOP;
  moment.left = count;
  if (lines != NULL) trace = open(lines, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void reached(const char *when, const char *operation, const char *path) {
  int saved = errno;
  if (trace >= 0 && strcmp(when, "after") == 0) dprintf(trace, "%s %s\n", operation, path);
  size_t length = strlen(path), end = strlen(moment.suffix);
  if (end > 0 && end <= length && strcmp(when, moment.when) == 0 && strcmp(operation, moment.operation) == 0 &&
      strcmp(path + length - end, moment.suffix) == 0 && atomic_fetch_sub(&moment.left, 1) == 1)
    raise(moment.signal); /* this thread, at once; the others follow */
  errno = saved;
}

/* Calls the real function of that name, and calls `reached` before and after that call. */
#define WATCHED(operation, path, succeeded, call)                  \
  reached("before", operation, path);                              \
  int result = call;                                               \
  if (result == (succeeded)) reached("after", operation, path);    \
  return result

static char *path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = '\0';
  return path;
}

int flock(int descriptor, int operation) {
  char path[PATH_MAX];
  if (operation & LOCK_UN) return (int)syscall(SYS_flock, descriptor, operation);
  WATCHED("flock", path_of(descriptor, path), 0, (int)syscall(SYS_flock, descriptor, operation));
}

int fsync(int descriptor) {
  char path[PATH_MAX];
  WATCHED("fsync", path_of(descriptor, path), 0, (int)syscall(SYS_fsync, descriptor));
}

int posix_fallocate(int descriptor, off_t offset, off_t size) {
  static int (*next)(int, off_t, off_t);
  char path[PATH_MAX];
  if (next == NULL) next = dlsym(RTLD_NEXT, "posix_fallocate");
  WATCHED("posix_fallocate", path_of(descriptor, path), 0, next(descriptor, offset, size));
}

int renameat(int from, const char *old, int to, const char *name) {
  WATCHED("renameat", name, 0, (int)syscall(SYS_renameat, from, old, to, name));
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || offsets == NULL || (clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME)) return result;
  int64_t offset = atomic_load(&offsets[clock == CLOCK_REALTIME]);
  int64_t nanoseconds = time->tv_nsec + offset % 1000000000;
  time->tv_sec += offset / 1000000000 + nanoseconds / 1000000000;
  time->tv_nsec = nanoseconds % 1000000000;
  return 0;
}
