// The words of the command line where the C library does not keep them: they lie in front of the environment.
#ifndef ENROLL_CPOSIX_WORDS_H
#define ENROLL_CPOSIX_WORDS_H
// How many they are, and the first. The kernel lays out a number, so many pointers, NULL, and the environment. To be called
// while nothing has changed the environment; NULL where it has none.
static inline char **enroll_posix_command_words(long *count) {
  extern char **environ;
  if (!environ || environ[-1]) return NULL;
  char **first = environ - 1;
  // No pointer is as small as a number of words.
  for (*count = 0; (intptr_t)first[-1] != *count; first--) ++*count;
  return first;
}
#endif
