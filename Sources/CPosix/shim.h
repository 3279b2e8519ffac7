// The C library of the system, for EnrollPosix, EnrollStore, EnrollHost and the programs. Macros and variadic functions become
// functions here. The differences between systems are in the back ends: linux.h, android.h and darwin.h define the same
// functions (enroll_posix_… for Swift, enroll_system_… for this file) with the same meaning. libraries.h names the shared
// libraries of each system.
// No shim may define _GNU_SOURCE: that macro changes fd_set, and Swift refuses modules that define a type differently.
#ifndef ENROLL_CPOSIX_SHIM_H
#define ENROLL_CPOSIX_SHIM_H
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "room.h"

static inline int enroll_posix_errno(void) { return errno; }
// Moves a descriptor to number 3 or above. If it cannot be moved, closes it and returns -1 with errno. Every function
// here that opens a descriptor calls this function, because descriptors 0, 1 and 2 belong to the host, even while they
// are closed: text that the host writes to stderr must not reach a file of EnrollKit.
static inline int enroll_posix_own(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int saved = errno;
  close(fd);
  errno = saved;
  return moved;
}
#include "libraries.h"
#if defined(__APPLE__)
#include "darwin.h"
#elif defined(__ANDROID__)
#include "android.h"
#else
#include "linux.h"
#endif

#include "clock.h"
#include "file-lock.h"

// The unwritable descriptors that occupy the free numbers from 0 to 2 while a writable descriptor is being opened. A
// writable descriptor must never have such a number, not even briefly: a line that the host writes to a closed stream
// would reach a file or a connection, or kill the host (SIGPIPE). If two threads open descriptors at the same time, one
// of them may still get a low number, so EnrollKit also reads files back after it has written them.
typedef struct enroll_posix_low {
  int taken[STDERR_FILENO + 1], count;
} enroll_posix_low;
static inline enroll_posix_low enroll_posix_take_low(void) {
  enroll_posix_low low = {{0}, 0};
  while (low.count <= STDERR_FILENO) {
    int fd = enroll_system_open_unwritable();
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) break;
    low.taken[low.count++] = fd;
  }
  return low;
}
// Closes the descriptors that occupied low numbers. Does not change errno.
static inline void enroll_posix_give_low(enroll_posix_low low) {
  int saved = errno;
  while (low.count > 0) close(low.taken[--low.count]);
  errno = saved;
}
// Moves `fd` to 3 or above if needed, then closes the descriptors that occupied low numbers.
static inline int enroll_posix_own_above(enroll_posix_low low, int fd) {
  fd = enroll_posix_own(fd);
  enroll_posix_give_low(low);
  return fd;
}
static inline int enroll_posix_open(const char *path, int flags, mode_t mode) {
  return enroll_posix_own(open(path, flags, mode));
}
static inline int enroll_posix_openat(int directory, const char *path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) == O_RDONLY) return enroll_posix_own(openat(directory, path, flags, mode));
  enroll_posix_low low = enroll_posix_take_low();
  return enroll_posix_own_above(low, openat(directory, path, flags, mode));
}
// A descriptor that becomes readable when enroll_posix_raise_event raises it, and stays readable until it is cleared.
static inline int enroll_posix_event(void) {
  enroll_posix_low low = enroll_posix_take_low();
  return enroll_posix_own_above(low, enroll_system_event());
}
// A descriptor that becomes readable at an instant of enroll_posix_boot_clock. The result is negative if no descriptor
// is available.
static inline int enroll_posix_alarm(void) { return enroll_posix_own(enroll_system_alarm()); }
// A descriptor that becomes readable when a signal of the set arrives. All signals of the set must be blocked. The
// result is negative if no descriptor is available.
static inline int enroll_posix_signals(const sigset_t *set) { return enroll_posix_own(enroll_system_signals(set)); }
// The next entry of the folder; NULL at the end. Sets `*error` to an error number if the folder cannot be read further,
// otherwise to 0.
static inline const struct dirent *enroll_posix_next_entry(DIR *stream, int *error) {
  errno = 0;
  const struct dirent *entry = readdir(stream);
  *error = entry == NULL ? errno : 0;
  return entry;
}
// The name of an entry, not copied. Swift would copy `d_name`, because that array is inside its struct.
static inline const char *enroll_posix_entry_name(const struct dirent *entry) {
  return entry->d_name;
}

// Permissions of a key in the kernel: a possessor may do everything; the user may view, read, write, search and link
// the key, and set its attributes; others may do nothing.
static const long enroll_posix_key_own = 0x3f3f0000;

#include "signals.h"

// Returns the next long option as getopt_long does, and sets `*argument` to its argument or NULL. Returns -1 at the
// end; then `*operand` is the index of the first operand.
static inline int enroll_posix_long_option(int count, char *const *words, const struct option *options,
                                           const char **argument, int *operand) {
  int found = getopt_long(count, words, "", options, NULL);
  *argument = optarg;
  *operand = optind;
  return found;
}

// The settings that this process inherited and then changed, with the values that they had when the process was
// started.
struct enroll_posix_start {
  sigset_t mask;
  rlim_t core;
  _Bool ignores_pipe;
};
static inline void enroll_posix_note_start(struct enroll_posix_start *start) {
  struct rlimit core = {0, 0};
  (void)getrlimit(RLIMIT_CORE, &core);
  start->core = core.rlim_cur;
  start->ignores_pipe = enroll_posix_is_signal_ignored(SIGPIPE) != 0;
  pthread_sigmask(SIG_SETMASK, NULL, &start->mask);
}

// Registers a handler that runs at exit. The library's own code calls atexit, so the system treats the handler as a
// part of the library.
static inline int enroll_posix_at_exit(void (*handler)(void)) { return atexit(handler); }
static inline _Bool enroll_posix_is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

/// Makes an end of a pipe blocking, so that reads and writes wait, in this process and in other processes that have the
/// same end open.
static inline void enroll_posix_make_blocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}
static inline void enroll_posix_close_on_exec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }
static inline _Bool enroll_posix_is_readable(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}
// Opens /dev/null for each standard stream that is closed, so that no file that is opened later gets the stream's
// number. /dev/null is opened for reading, so that writes to a closed stream fail as before.
static inline void enroll_posix_open_missing_streams(void) {
  for (int fd = 0; fd < 3; fd++)
    if (!enroll_posix_is_open(fd) && open("/dev/null", O_RDONLY) != fd) return;
}
// A number that no other running thread has.
static inline uintptr_t enroll_posix_this_thread(void) { return (uintptr_t)pthread_self(); }
// Starts a detached thread with a stack of `stack` bytes. If `stack` is 0, the stack has the default size, but at least
// `least` bytes. Returns 0 or an error number.
static inline int enroll_posix_start_thread(size_t stack, size_t least, void *(*run)(void *), void *argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  size_t usual = 0;
  if (pthread_attr_init(&attributes) != 0) return ENOMEM;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_getstacksize(&attributes, &usual);
  if (stack == 0) stack = usual < least ? least : usual;
  if (stack != usual) pthread_attr_setstacksize(&attributes, stack);
  int status = pthread_create(&thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return status;
}
// Sets the handler of a signal; NULL restores the default action.
static inline void enroll_posix_handle_signal(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler ? handler : SIG_DFL};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}
// The signals that other threads or processes send: all except the signals for faults of the thread itself. If the
// fault signals were blocked, a fault would kill the process without the host's handler.
static inline void enroll_posix_outside_signals(sigset_t *set) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigfillset(set);
  for (unsigned index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(set, faults[index]);
}
// Replaces this process by the program `words[0]`, which is looked up in PATH. The words and the environment end with
// NULL. The program gets the signal mask, the SIGPIPE setting and the core limit with which this process was started.
// Returns only on failure, with the error number.
static inline int enroll_posix_become(char *const words[], char *const environment[], const struct enroll_posix_start *start) {
  (void)enroll_system_limit_core(start->core);
  signal(SIGPIPE, start->ignores_pipe ? SIG_IGN : SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &start->mask, NULL);
  char *const *before = enroll_posix_environment();
  enroll_system_set_environment(environment);
  execvp(words[0], words);
  int number = errno;
  // Restores the earlier environment, because the caller frees `environment`.
  enroll_system_set_environment((char *const *)before);
  return number;
}

// Closes every descriptor from `first` on.
static inline void enroll_posix_close_from(int first) {
  if (enroll_system_close_from((unsigned)first) == 0) return;
  DIR *folder = opendir("/dev/fd");
  if (folder == NULL) {
    for (int fd = first; fd < 65536; fd++) close(fd);
    return;
  }
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    int fd = atoi(entry->d_name);
    if (fd >= first && fd != dirfd(folder)) close(fd);
  }
  closedir(folder);
}
// Starts this program again with the words, which end with NULL. The new process reads `input` and writes `output`; all its
// signals have their default action. Returns 0, or an error number if no process can be started.
static inline int enroll_posix_start_again(char *const words[], int input, int output, pid_t *child) {
  const char *path = enroll_posix_program();
  if (path == NULL) return ENOENT;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  int status = posix_spawnattr_init(&attributes);
  if (status != 0) return status;
  if ((status = posix_spawn_file_actions_init(&files)) == 0) {
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if ((status = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO)) == 0 &&
        (status = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)) == 0 &&
        (status = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) == 0)
      status = posix_spawn(child, path, &files, &attributes, words, enroll_posix_environment());
    posix_spawn_file_actions_destroy(&files);
  }
  posix_spawnattr_destroy(&attributes);
  return status;
}
// Ends this process, and continues in a process that is independent of this process's parent. A child runs the
// program's file again with `words`, which end with NULL: in its own session, without a terminal, in "/" and with only
// the standard streams. It runs the file again because a language's runtime may remember values in a forked child that
// are true only for the parent, such as the thread's id. Call this before the first thread starts. It returns only if
// no child can be made; otherwise the calling process ends at once.
static inline void enroll_posix_leave(char *const words[]) {
  const char *path = enroll_posix_program();
  enroll_posix_close_from(STDERR_FILENO + 1);
  pid_t child = path == NULL ? -1 : fork();
  if (child < 0) return;
  if (child > 0) _exit(0);
  if (setsid() >= 0 && chdir("/") == 0) execv(path, words);
  _exit(127);
}

// The width of the terminal in columns; 0 if the descriptor is not a terminal.
static inline int enroll_posix_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
// The exit status of a child, or 128 plus the number of the signal that ended it; -1 while the child runs, or if it is
// not a child of this process.
static inline int enroll_posix_ending(pid_t child) {
  int status;
  if (waitpid(child, &status, WNOHANG) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A blocking socket, close-on-exec.
static inline int enroll_posix_socket(int family, int type, int protocol) {
  enroll_posix_low low = enroll_posix_take_low();
  return enroll_posix_own_above(low, enroll_system_socket(family, type, protocol, 1));
}
// Makes a socket that listens on the loopback address, close-on-exec and non-blocking. `family` is AF_INET (127.0.0.1)
// or AF_INET6 (::1). With port 0 the system chooses the port. Returns -1 with errno on failure. The function is written
// in C, because Swift can cast a socket address to another family only with rebound memory.
static inline int enroll_posix_listen_loopback(int family, uint16_t port, int backlog) {
  enroll_posix_low low = enroll_posix_take_low();
  int fd = enroll_posix_own_above(low, enroll_system_socket(family, SOCK_STREAM, 0, 0));
  if (fd < 0) return -1;
  int one = 1, done = -1;
  // SO_REUSEADDR: a fixed port must be usable again while connections of the previous sign-in are still closing.
  if (family == AF_INET6) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0 &&
        (port == 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0))
      done = bind(fd, (struct sockaddr *)&address, sizeof address);
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (port == 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0)
      done = bind(fd, (struct sockaddr *)&address, sizeof address);
  }
  if (done == 0) done = listen(fd, backlog);
  if (done == 0) return fd;
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}
// The port a socket is bound to, or -1.
static inline int enroll_posix_local_port(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return -1;
  if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  return -1;
}
static inline int enroll_posix_accept(int fd) {
  enroll_posix_low low = enroll_posix_take_low();
  return enroll_posix_own_above(low, enroll_system_accept(fd));
}
// Retains the object that the tagged pointer points to. A pointer whose highest bit is set points to no object.
static inline void enroll_posix_retain(uintptr_t object) {
  extern void *swift_retain(void *);
  if ((intptr_t)object > 0) swift_retain((void *)(object & 0x0ffffffffffffff8));
}
#endif
