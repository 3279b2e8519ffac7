// The smallest program that can answer a line of JSON-RPC: plain C with jansson. The daemon is compared with it.
// Answers every request with the same result, which has the form of a result of `expiry.check`.
// Build: cc -O2 answer.c -ljansson

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int answer(const char *line, size_t size) {
  json_error_t error;
  json_t *request = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
  json_t *id = json_object_get(request, "id");
  if (!json_is_string(json_object_get(request, "method")) || id == NULL) return -1;

  json_t *result = json_object();
  json_object_set_new(result, "band", json_string("due"));
  json_object_set_new(result, "secondsLeft", json_integer(1));
  json_t *reply = json_object();
  json_object_set_new(reply, "jsonrpc", json_string("2.0"));
  json_object_set_new(reply, "result", result);
  json_object_set(reply, "id", id);

  char *text = json_dumps(reply, JSON_COMPACT);
  size_t length = strlen(text);
  text[length] = '\n';
  int done = fwrite(text, 1, length + 1, stdout) == length + 1 ? 0 : -1;
  free(text);
  json_decref(reply);
  json_decref(request);
  return done;
}

int main(void) {
  static char input[65536];
  size_t kept = 0;
  for (;;) {
    ssize_t count = read(STDIN_FILENO, input + kept, sizeof input - kept);
    if (count <= 0) return 0;
    kept += (size_t)count;
    char *line = input;
    char *newline;
    while ((newline = memchr(line, '\n', kept - (size_t)(line - input)))) {
      if (answer(line, (size_t)(newline - line)) != 0) return 1;
      line = newline + 1;
    }
    kept -= (size_t)(line - input);
    memmove(input, line, kept);
    // All answers to the requests that were read together are written at once.
    fflush(stdout);
  }
}
