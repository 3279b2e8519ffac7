/*
 * Two copies of the library in one process, as in a program with two plugins that each have their own copy: a handle is
 * valid in the copy that made it, and the other copy refuses the handle.
 *
 *     copies LIBRARY LIBRARY
 */
#include <dlfcn.h>
#include <enroll.h>
#include <stdio.h>
#include <stdlib.h>

#define CLIENTS 64

/* ISO C cannot convert a pointer to an object into a pointer to a function; POSIX allows this cast. */
#define FIND(copy, name) (*(__typeof__(&name) *)&(void *){find((copy)->library, #name)})

typedef struct copy {
  void *library;
  enroll_client *clients[CLIENTS];
  enroll_pending *call;
  enroll_queue *queue;
  enroll_buf text;
} copy;

static int refused;

static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  expect(found != NULL, name);
  return found;
}

static void ignore(void *user_data, enroll_status status, const char *result, size_t result_size,
                   const enroll_error *error) {
  (void)user_data, (void)status, (void)result, (void)result_size, (void)error;
}

static copy open_copy(const char *path) {
  copy made = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL), .text = ENROLL_BUF_INIT};
  expect(made.library != NULL, path);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  for (int index = 0; index < CLIENTS; index++)
    expect(FIND(&made, enroll_client_new)(&options, &made.clients[index], NULL) == ENROLL_OK, "a client opens");
  expect(FIND(&made, enroll_call_start)(made.clients[0], "diagnostics.export", ENROLL_NUL_TERMINATED, NULL, 0,
                                        ENROLL_NO_TIMEOUT, ignore, NULL, &made.call, NULL) == ENROLL_OK,
         "a call starts");
  expect(FIND(&made, enroll_queue_new)(&made.queue, NULL) == ENROLL_OK, "a queue opens");
  expect(FIND(&made, enroll_system_describe)(&made.text, NULL) == ENROLL_OK, "a buffer is handed out");
  return made;
}

static void expect_refused(enroll_status status, const char *what) {
  if (status != ENROLL_E_HANDLE) fprintf(stderr, "status %d: ", (int)status);
  expect(status == ENROLL_E_HANDLE, what);
  refused++;
}

/* Passes the handles and the buffer of `owner` to `other`. */
static void offer(copy *owner, copy *other) {
  for (int index = 0; index < CLIENTS; index++) {
    expect_refused(FIND(other, enroll_platform_ready)(owner->clients[index], NULL), "another copy's client is used");
    expect_refused(FIND(other, enroll_client_free)(owner->clients[index]), "another copy's client is freed");
  }
  expect_refused(FIND(other, enroll_pending_cancel)(owner->call), "another copy's call is cancelled");
  expect_refused(FIND(other, enroll_pending_free)(owner->call), "another copy's call is freed");
  expect_refused(FIND(other, enroll_queue_dispatch)(owner->queue, NULL, NULL), "another copy's queue is used");
  expect_refused(FIND(other, enroll_queue_free)(owner->queue), "another copy's queue is freed");
  enroll_buf copied = owner->text;
  FIND(other, enroll_buf_free)(&copied);
  expect(other->text.data[0] == '{', "another copy's buffer stands for one of ours");
}

static void close_copy(copy *made) {
  for (int index = 0; index < CLIENTS; index++)
    expect(FIND(made, enroll_client_free)(made->clients[index]) == ENROLL_OK, "its own client is freed");
  expect(FIND(made, enroll_pending_free)(made->call) == ENROLL_OK, "its own call is freed");
  expect(FIND(made, enroll_queue_free)(made->queue) == ENROLL_OK, "its own queue is freed");
  FIND(made, enroll_buf_free)(&made->text);
}

int main(int count, char **arguments) {
  expect(count == 3, "copies LIBRARY LIBRARY");
  copy first = open_copy(arguments[1]), second = open_copy(arguments[2]);
  expect((void *)FIND(&first, enroll_client_new) != (void *)FIND(&second, enroll_client_new), "two copies");
  offer(&first, &second);
  offer(&second, &first);
  close_copy(&first);
  close_copy(&second);
  printf("%d handles refused\n", refused);
  return 0;
}
