// Functions that read the system's clocks and the times of files, and a function that sleeps. They are written in C,
// because with some C libraries no module that Swift can import declares the members of a timespec.
#ifndef ENROLL_CPOSIX_CLOCK_H
#define ENROLL_CPOSIX_CLOCK_H
// The system's date.
static const clockid_t enroll_posix_date_clock = CLOCK_REALTIME;

// Converts a time to nanoseconds. Returns INT64_MAX if the number would be larger.
static inline int64_t enroll_posix_nanoseconds(struct timespec time) {
  int64_t result;
  return __builtin_mul_overflow((int64_t)time.tv_sec, 1000000000, &result) ||
                 __builtin_add_overflow(result, (int64_t)time.tv_nsec, &result)
             ? INT64_MAX
             : result;
}
static inline int64_t enroll_posix_read_clock(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return enroll_posix_nanoseconds(time);
}
// The time of the file's last write, in nanoseconds since 1970.
static inline int64_t enroll_posix_modified(const struct stat *status) {
  return enroll_posix_nanoseconds(enroll_system_modified(status));
}
// Sleeps for the given time, or until a signal handler has run.
static inline void enroll_posix_sleep(int64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  nanosleep(&time, NULL);
}

// Ends the process by SIGALRM once it has run for `seconds`. Time in which the process is stopped does not count: the
// timer sends a signal every second, but a process that was stopped receives only one of these signals when it
// continues.
static volatile sig_atomic_t enroll_posix_seconds_left = 0;
static inline void enroll_posix_count_alarm(int number) {
  if (--enroll_posix_seconds_left > 0) return;
  signal(number, SIG_DFL);
  raise(number);
}
static inline void enroll_posix_limit_running_time(int seconds) {
  struct sigaction action = {.sa_handler = enroll_posix_count_alarm, .sa_flags = SA_RESTART};
  struct itimerval second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
  enroll_posix_seconds_left = seconds;
  if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &second, NULL) != 0) alarm((unsigned)seconds);
}
#endif
