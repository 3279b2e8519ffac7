// The calls of the Linux kernel that desktop Linux and Android share.
#ifndef ENROLL_CPOSIX_KERNEL_H
#define ENROLL_CPOSIX_KERNEL_H
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
long syscall(long number, ...);
int pipe2(int ends[2], int flags);

// The first clock continues during suspend. The second, which threads wait by, stops during suspend. Neither clock is
// ever set.
static const clockid_t enroll_posix_boot_clock = CLOCK_BOOTTIME;
static const clockid_t enroll_posix_waiting_clock = CLOCK_MONOTONIC;

// Copies the id of the current boot to `name`: 36 characters, the same for every process of the machine. Returns 0 if
// the id cannot be read.
static inline size_t enroll_posix_boot_name(uint8_t *name, size_t size) {
  int fd = enroll_posix_own(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return 0;
  ssize_t count = size < 36 ? 0 : read(fd, name, size);
  close(fd);
  return count < 36 ? 0 : 36;
}

// Opens a descriptor that cannot be written to. With O_PATH, the process needs no permission to read.
#define ENROLL_SYSTEM_O_PATH 010000000
static inline int enroll_system_open_unwritable(void) { return open("/", ENROLL_SYSTEM_O_PATH | O_CLOEXEC); }

// An eventfd(2) with the value 0, close-on-exec and non-blocking.
static inline int enroll_system_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
// Makes the descriptor readable. The call fails only if the event's value is already the largest possible (2^64 - 2);
// the descriptor is readable then, too.
static inline void enroll_posix_raise_event(int fd) {
  uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) { /* It is readable. */ }
}
static inline void enroll_posix_clear_event(int fd) {
  uint64_t count;
  if (read(fd, &count, sizeof count) < 0) { /* It was not. */ }
}

static inline int enroll_system_alarm(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC); }
// Sets the alarm to `instant`, in nanoseconds of enroll_posix_boot_clock. A past instant raises the alarm at once.
static inline void enroll_posix_set_alarm(int fd, int64_t instant) {
  struct itimerspec when = {{0, 0}, {0, 1}};
  if (instant > 0) {
    when.it_value.tv_sec = instant / 1000000000;
    when.it_value.tv_nsec = instant % 1000000000;
    if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0) when.it_value.tv_nsec = 1;
  }
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}
static inline void enroll_posix_clear_alarm(int fd) { enroll_posix_clear_event(fd); }

// A signalfd(2) for blocked signals.
static inline int enroll_system_signals(const sigset_t *set) { return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK); }
// The number of the next signal; 0 if no signal came.
static inline int enroll_posix_next_signal(int fd) {
  struct signalfd_siginfo taken;
  return read(fd, &taken, sizeof taken) == sizeof taken ? (int)taken.ssi_signo : 0;
}
// Removes one signal that is blocked and pending.
static inline void enroll_posix_take_signal(int number) {
  struct timespec now = {0, 0};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  while (sigtimedwait(&set, NULL, &now) == number) {}
}

// A condition variable whose waits are measured by enroll_posix_waiting_clock.
static inline void enroll_posix_make_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}
static inline void enroll_posix_wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t part = end.tv_nsec + nanoseconds % 1000000000;
  end.tv_sec += nanoseconds / 1000000000 + part / 1000000000;
  end.tv_nsec = part % 1000000000;
  pthread_cond_timedwait(condition, mutex, &end);
}

// Close-on-exec.
static inline int enroll_system_socket(int family, int type, int protocol, _Bool waits) {
  return socket(family, type | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), protocol);
}
// Close-on-exec and non-blocking.
static inline int enroll_system_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
static inline int enroll_posix_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }
// Sends without waiting, and without SIGPIPE.
static inline ssize_t enroll_posix_send(int fd, const void *bytes, size_t count) {
  return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Writes the file's content to the disk.
static inline int enroll_posix_sync(int fd) { return fsync(fd); }
// Allocates disk space for the first `count` bytes, and makes the file that long. Returns 0 or an error number.
static inline int enroll_posix_allocate(int fd, int64_t count) { return posix_fallocate(fd, 0, count); }
static inline struct timespec enroll_system_modified(const struct stat *status) { return status->st_mtim; }
// Gets the magic number of the filesystem that contains the file. Returns 0, or -1 with errno.
static inline int enroll_posix_filesystem(int fd, uint32_t *kind) {
  struct statfs found;
  if (fstatfs(fd, &found) != 0) return -1;
  *kind = (uint32_t)found.f_type;
  return 0;
}

// Forbids core dumps and debuggers of the same user. Returns 0, or -1 with errno.
static inline int enroll_posix_hide_memory(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? enroll_system_limit_core(0) : -1;
}
// A path with which this program can be run again, even after its file was deleted or replaced.
static inline const char *enroll_posix_program(void) { return "/proc/self/exe"; }
// Sets the name of this process in the system's process lists, at most 15 characters.
static inline void enroll_posix_name_process(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline char *const *enroll_posix_environment(void) {
  extern char **environ;
  return environ;
}
static inline void enroll_system_set_environment(char *const environment[]) {
  extern char **environ;
  environ = (char **)environment;
}
#endif
