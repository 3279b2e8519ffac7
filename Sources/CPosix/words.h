// The words of the command line for C libraries that do not keep them: they are in memory before the environment.
#ifndef ENROLL_CPOSIX_WORDS_H
#define ENROLL_CPOSIX_WORDS_H
// The number of words, and the first word. The kernel's layout is the number, the pointers, NULL, and the environment. Call it
// before anything has changed the environment. NULL if the process has no environment.
static inline char **enroll_posix_command_words(long *count) {
  extern char **environ;
  if (!environ || environ[-1]) return NULL;
  char **first = environ - 1;
  // No pointer is as small as the number of words.
  for (*count = 0; (intptr_t)first[-1] != *count; first--) ++*count;
  return first;
}
#endif
