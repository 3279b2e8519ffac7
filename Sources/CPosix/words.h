// Finds the words of the command line if the C library does not keep them. In memory, the words come before the
// environment.
#ifndef ENROLL_CPOSIX_WORDS_H
#define ENROLL_CPOSIX_WORDS_H
// Returns the first word, and stores the number of words in `*count`. In the kernel's layout, the number is followed by
// the pointers to the words, NULL, and the environment. Call this before anything has changed the environment. Returns
// NULL if the process has no environment.
static inline char **enroll_posix_command_words(long *count) {
  extern char **environ;
  if (!environ || environ[-1]) return NULL;
  char **first = environ - 1;
  // Moves `first` back over the pointers, until the value before `first` is the number of words. That number is smaller
  // than every pointer, so no pointer is mistaken for the number.
  for (*count = 0; (intptr_t)first[-1] != *count; first--) ++*count;
  return first;
}
#endif
