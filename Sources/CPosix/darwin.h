// The back end for macOS and iOS. scripts/check-darwin compiles this file, but it was never run (docs/platforms.md).
#ifndef ENROLL_CPOSIX_DARWIN_H
#define ENROLL_CPOSIX_DARWIN_H
#include <CommonCrypto/CommonCryptoError.h>
#include <CommonCrypto/CommonRandom.h>
#include <TargetConditionals.h>
#include <crt_externs.h>
#include <mach-o/dyld.h>
#include <mach/mach_time.h>
#include <sys/event.h>
#include <sys/mount.h>
#include <sys/stdio.h>
#include <sys/sysctl.h>

#include "no-keyring.h"

// The first clock is mach_continuous_time in nanoseconds, which continues during suspend. The second is
// mach_absolute_time, which stops during suspend. Nobody can set either clock.
static const clockid_t enroll_posix_boot_clock = CLOCK_MONOTONIC_RAW;
static const clockid_t enroll_posix_waiting_clock = CLOCK_UPTIME_RAW;

// The id of the current boot, 36 characters, the same for every process of the machine. Returns 0 if it cannot be read.
static inline size_t enroll_posix_boot_name(uint8_t *name, size_t size) {
  return sysctlbyname("kern.bootsessionuuid", name, &size, NULL, 0) == 0 && size >= 36 ? 36 : 0;
}

// `size` random bytes of the system's generator, or -1 with errno. getentropy(3) is not a public function of iOS.
static inline ssize_t enroll_posix_random(void *bytes, size_t size) {
  if (CCRandomGenerateBytes(bytes, size) == kCCSuccess) return (ssize_t)size;
  errno = EIO;
  return -1;
}

// Makes a descriptor close-on-exec and, unless `waits`, non-blocking. The call that makes a descriptor cannot set these
// flags itself, so a child process that is started in between inherits the descriptor. Closes the descriptor on
// failure.
static inline int enroll_system_prepare(int fd, _Bool waits) {
  if (fd < 0) return fd;
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && (waits || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0)) return fd;
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

// A descriptor that cannot be written to: /dev/null, opened for reading, because a sandbox may forbid opening "/".
static inline int enroll_system_open_unwritable(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Makes a kqueue(2) without events. The next function adds an event to it or changes an event. Both return -1 with
// errno on failure.
static inline int enroll_system_queue(void) { return enroll_system_prepare(kqueue(), 1); }
static inline int enroll_system_queue_change(int fd, uintptr_t name, int16_t filter, uint16_t flags, uint32_t details, int64_t data) {
  struct kevent change = {.ident = name, .filter = filter, .flags = flags, .fflags = details, .data = data};
  return kevent(fd, &change, 1, NULL, 0, NULL);
}
// Reads the next event without waiting. Returns 1, 0 if there is no event, or -1 on failure.
static inline int enroll_system_queue_next(int fd, struct kevent *event) {
  struct timespec now = {0, 0};
  return kevent(fd, NULL, 0, event, 1, &now);
}

// A descriptor that becomes readable when enroll_posix_raise_event raises it.
static inline int enroll_system_event(void) {
  int fd = enroll_system_queue();
  if (fd >= 0 && enroll_system_queue_change(fd, 1, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}
static inline void enroll_posix_raise_event(int fd) { enroll_system_queue_change(fd, 1, EVFILT_USER, 0, NOTE_TRIGGER, 0); }
static inline void enroll_posix_clear_event(int fd) {
  struct kevent event;
  enroll_system_queue_next(fd, &event);
}

static inline int enroll_system_alarm(void) { return enroll_system_queue(); }
// `instant` is in nanoseconds of enroll_posix_boot_clock. A past instant raises the alarm at once.
static inline void enroll_posix_set_alarm(int fd, int64_t instant) {
  struct mach_timebase_info base;
  int64_t ticks = 0;
  if (instant > 0 && mach_timebase_info(&base) == 0) {
    __int128 scaled = (__int128)instant * base.denom / base.numer;
    ticks = scaled > INT64_MAX ? INT64_MAX : (int64_t)scaled;
  }
  enroll_system_queue_change(fd, 1, EVFILT_TIMER, EV_ADD | EV_ONESHOT,
                             NOTE_MACHTIME | NOTE_MACH_CONTINUOUS_TIME | NOTE_ABSOLUTE, ticks);
}
static inline void enroll_posix_clear_alarm(int fd) { enroll_posix_clear_event(fd); }

// A kqueue that reports blocked signals. The report does not replace the signal's usual effect.
static inline int enroll_system_signals(const sigset_t *set) {
  int fd = enroll_system_queue();
  for (int number = 1; fd >= 0 && number < NSIG; number++) {
    if (sigismember(set, number) != 1 || enroll_system_queue_change(fd, number, EVFILT_SIGNAL, EV_ADD, 0, 0) == 0) continue;
    close(fd);
    return -1;
  }
  return fd;
}
// The number of the next signal; 0 if no signal came.
static inline int enroll_posix_next_signal(int fd) {
  struct kevent event;
  return enroll_system_queue_next(fd, &event) == 1 ? (int)event.ident : 0;
}
// Removes the signal if it is blocked and pending, so that it has no effect.
static inline void enroll_posix_take_signal(int number) {
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, number);
  while (sigpending(&pending) == 0 && sigismember(&pending, number) == 1) {
    int taken;
    if (sigwait(&set, &taken) != 0) return;
  }
}

// Makes a condition variable. A wait takes a duration, so that a change of the date does not change the wait.
static inline void enroll_posix_make_condition(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }
static inline void enroll_posix_wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
  struct timespec span = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  pthread_cond_timedwait_relative_np(condition, mutex, &span);
}

// Makes a write to a connection that the other side closed fail with an error instead of raising SIGPIPE.
static inline int enroll_system_no_pipe_signal(int fd) {
  int one = 1;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
  return fd;
}
// Close-on-exec.
static inline int enroll_system_socket(int family, int type, int protocol, _Bool waits) {
  return enroll_system_no_pipe_signal(enroll_system_prepare(socket(family, type, protocol), waits));
}
// Close-on-exec and non-blocking.
static inline int enroll_system_accept(int fd) {
  return enroll_system_no_pipe_signal(enroll_system_prepare(accept(fd, NULL, NULL), 0));
}
static inline int enroll_posix_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  // enroll_system_prepare closes a descriptor that it cannot prepare.
  int first = enroll_system_prepare(ends[0], 0), second = enroll_system_prepare(ends[1], 0);
  if (first >= 0 && second >= 0) return 0;
  if (first >= 0) close(first);
  if (second >= 0) close(second);
  return -1;
}
// Sends without waiting, and without SIGPIPE: EnrollKit's sockets do not raise it, and EnrollKit's programs ignore it.
static inline ssize_t enroll_posix_send(int fd, const void *bytes, size_t count) {
  return send(fd, bytes, count, MSG_DONTWAIT);
}

// Writes the file's content to the disk: fsync(2) alone leaves it in the drive's cache. A filesystem without F_FULLFSYNC gets
// fsync(2).
static inline int enroll_posix_sync(int fd) {
  if (fcntl(fd, F_FULLFSYNC) == 0) return 0;
  return errno == ENOTSUP || errno == EINVAL || errno == ENOTTY ? fsync(fd) : -1;
}
// Allocates disk space for the first `count` bytes of an empty file, and makes the file that long. Returns 0 or an
// error number.
static inline int enroll_posix_allocate(int fd, int64_t count) {
  fstore_t space = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = count};
  if (fcntl(fd, F_PREALLOCATE, &space) == -1 && errno != ENOTSUP) return errno;
  return ftruncate(fd, count) == 0 ? 0 : errno;
}
static inline struct timespec enroll_system_modified(const struct stat *status) { return status->st_mtimespec; }
// Sets `*kind` to 0 for a file on a local disk. For any other filesystem, sets it to the number that Linux uses for
// that filesystem. Returns 0, or -1 with errno.
static inline int enroll_posix_filesystem(int fd, uint32_t *kind) {
  struct statfs found;
  if (fstatfs(fd, &found) != 0) return -1;
  if (found.f_flags & MNT_LOCAL) *kind = 0;
  else if (strcmp(found.f_fstypename, "nfs") == 0) *kind = 0x6969;
  else if (strcmp(found.f_fstypename, "smbfs") == 0) *kind = 0x517B;
  else *kind = 0x65735546;  // FUSE; a network may be behind it
  return 0;
}
// Renames a file unless the new name exists. Returns 0, or -1 with errno, which is EEXIST if the new name exists. On a
// filesystem without that operation, a link and an unlink do the same in two steps.
static inline int enroll_posix_rename_new(int folder, const char *old, const char *name) {
  if (renameatx_np(folder, old, folder, name, RENAME_EXCL) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL) return -1;
  return linkat(folder, old, folder, name, 0) == 0 ? unlinkat(folder, old, 0) : -1;
}

static inline const char *enroll_posix_missing_keyring(void) { return "this system's kernel has no keyrings"; }

#if TARGET_OS_OSX
int ptrace(int request, pid_t process, caddr_t address, int data);
#endif
// Forbids core dumps and debuggers of the same user. Returns 0, or -1 with errno. On iOS an app may not call this, and
// no program of EnrollKit runs there.
static inline int enroll_posix_hide_memory(void) {
#if TARGET_OS_OSX
  const int deny_attach = 31;  // PT_DENY_ATTACH
  return ptrace(deny_attach, 0, NULL, 0) == 0 ? enroll_system_limit_core(0) : -1;
#else
  errno = ENOTSUP;
  return -1;
#endif
}
static inline void enroll_posix_share_heap(void) {}
static inline void enroll_posix_return_memory(void) {}

static inline char **enroll_posix_command_words(long *count) {
  *count = *_NSGetArgc();
  return *_NSGetArgv();
}
static inline int enroll_system_close_from(unsigned first) { return -1; }
// The path of this program's file, for running the program again. NULL if the system does not provide it.
static inline const char *enroll_posix_program(void) {
  static char path[PATH_MAX];
  uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? path : NULL;
}
static inline void enroll_posix_name_process(const char *name) {}
static inline char *const *enroll_posix_environment(void) { return *_NSGetEnviron(); }
static inline void enroll_system_set_environment(char *const environment[]) { *_NSGetEnviron() = (char **)environment; }
#endif
