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

// The clock that counts suspend, and the one that threads wait by, which stands still meanwhile. Neither is ever set.
static const clockid_t enroll_posix_boot_clock = CLOCK_BOOTTIME;
static const clockid_t enroll_posix_waiting_clock = CLOCK_MONOTONIC;

// The name of the boot, 36 characters, which every process of the machine reads. 0 where it cannot be read.
static inline size_t enroll_posix_boot_name(uint8_t *name, size_t size) {
  int fd = enroll_posix_own(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return 0;
  ssize_t count = size < 36 ? 0 : read(fd, name, size);
  close(fd);
  return count < 36 ? 0 : 36;
}

// A descriptor that cannot be written to. O_PATH: no right to read is needed.
#define ENROLL_SYSTEM_O_PATH 010000000
static inline int enroll_system_open_unwritable(void) { return open("/", ENROLL_SYSTEM_O_PATH | O_CLOEXEC); }

// An eventfd(2) of 0, close-on-exec and non-blocking.
static inline int enroll_system_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
// Makes it readable. Fails only when 2^64 - 1 of them are waiting already.
static inline void enroll_posix_raise_event(int fd) {
  uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) { /* It is readable. */ }
}
static inline void enroll_posix_clear_event(int fd) {
  uint64_t count;
  if (read(fd, &count, sizeof count) < 0) { /* It was not. */ }
}

static inline int enroll_system_alarm(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC); }
// Nanoseconds of the clock that counts suspend; what is past is now.
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
// The number of the next signal; 0 if none came.
static inline int enroll_posix_next_signal(int fd) {
  struct signalfd_siginfo taken;
  return read(fd, &taken, sizeof taken) == sizeof taken ? (int)taken.ssi_signo : 0;
}
// Takes away what is pending of a blocked signal.
static inline void enroll_posix_take_signal(int number) {
  struct timespec now = {0, 0};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  while (sigtimedwait(&set, NULL, &now) == number) {}
}

// A condition variable that waits by the waiting clock.
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
// Without waiting, and without SIGPIPE.
static inline ssize_t enroll_posix_send(int fd, const void *bytes, size_t count) {
  return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The file's content reaches the disk.
static inline int enroll_posix_sync(int fd) { return fsync(fd); }
// Disk space for the first `count` bytes, which the file then has. 0 or an error number.
static inline int enroll_posix_allocate(int fd, int64_t count) { return posix_fallocate(fd, 0, count); }
static inline struct timespec enroll_system_modified(const struct stat *status) { return status->st_mtim; }
// The room that is left for this user on the filesystem of a file. 0, or -1 with errno.
static inline int enroll_posix_room_of(int fd, struct enroll_posix_room *room) {
  struct statfs found;
  if (fstatfs(fd, &found) != 0) return -1;
  // A filesystem without a limit has no blocks.
  uint64_t blocks = geteuid() == 0 ? (uint64_t)found.f_bfree : (uint64_t)found.f_bavail;
  uint64_t size = (uint64_t)found.f_bsize;
  room->bytes = found.f_blocks == 0 || blocks > UINT64_MAX / (size + 1) ? UINT64_MAX : blocks * size;
  room->takes_files = found.f_files == 0 || found.f_ffree > 0;
  room->is_read_only = (found.f_flags & 1 /* ST_RDONLY */) != 0;
  return 0;
}
// The magic number of a file's filesystem. 0, or -1 with errno.
static inline int enroll_posix_filesystem(int fd, uint32_t *kind) {
  struct statfs found;
  if (fstatfs(fd, &found) != 0) return -1;
  *kind = (uint32_t)found.f_type;
  return 0;
}

// No core dump, and no debugger of the same user. 0, or -1 with errno.
static inline int enroll_posix_hide_memory(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? enroll_system_limit_core(0) : -1;
}
// The file of this program, to be run again; also after it was deleted or replaced. NULL where the system does not tell.
static inline const char *enroll_posix_program(void) { return "/proc/self/exe"; }
// The name of this process in the system's lists of processes: 15 characters at most.
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
