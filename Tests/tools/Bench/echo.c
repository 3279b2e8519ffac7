// Answers each line with a line of as many bytes as the argument says: the cheapest exchange of two processes over
// pipes.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char input[65536], answer[65536];
  size_t size = count == 2 ? (size_t)atol(arguments[1]) : 0;
  if (size < 1 || size > sizeof answer) return 2;
  memset(answer, 'a', size - 1);
  answer[size - 1] = '\n';
  for (;;) {
    ssize_t got = read(STDIN_FILENO, input, sizeof input);
    if (got <= 0) return 0;
    for (ssize_t at = 0; at < got; at++)
      if (input[at] == '\n' && write(STDOUT_FILENO, answer, size) != (ssize_t)size) return 1;
  }
}
