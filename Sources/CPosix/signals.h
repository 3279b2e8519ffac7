// Signals that a program ignores, or reads from a descriptor. Written in C, because Swift does not import macros that
// cast to a function, such as SIG_IGN.
#ifndef ENROLL_CPOSIX_SIGNALS_H
#define ENROLL_CPOSIX_SIGNALS_H
static inline void enroll_posix_ignore_signal(int number) { signal(number, SIG_IGN); }
// Makes this process ignore the signals with which another process could end it. Exceptions: the signals that cannot be
// ignored, and SIGALRM, which limits the running time.
static inline void enroll_posix_ignore_ending_signals(void) {
  static const int numbers[] = {
      SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,
#ifdef SIGPWR
      SIGPWR,
#endif
  };
  for (unsigned index = 0; index < sizeof numbers / sizeof *numbers; index++) signal(numbers[index], SIG_IGN);
}
static inline int enroll_posix_is_signal_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
// Watches a signal: from now on its handler only writes the signal's number, as one byte, to `descriptor`. All watched
// signals share one descriptor. `*before` receives the signal's previous action.
static int enroll_posix_signal_writer = -1;
static inline void enroll_posix_write_signal(int number) {
  int saved = errno;
  char byte = (char)number;
  if (write(enroll_posix_signal_writer, &byte, 1) != 1) { /* The pipe is full. */ }
  errno = saved;
}
static inline void enroll_posix_watch_signal(int number, int descriptor, struct sigaction *before) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = enroll_posix_write_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  enroll_posix_signal_writer = descriptor;
  sigaction(number, &action, before);
}
#endif
