/*
 * Loads the library by its soname, uses it and unloads it, a hundred times. Then it uses a text and a handle from those
 * rounds once more. The library's threads, and the libraries that it opened, continue to exist after dlclose, so the
 * library's code must stay in memory for them.
 */
#include <dlfcn.h>
#include <enroll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 100

static void *library;

static void *find(const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return found;
}

/* This cast is needed, because ISO C cannot convert a pointer to an object into a pointer to a function.
 * POSIX allows the cast. */
#define FIND(name) (*(__typeof__(&name) *)&(void *){find(#name)})

static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void count_call(void *user_data, enroll_status status, const char *result, size_t result_size,
                       const enroll_error *error) {
  (void)user_data, (void)result, (void)result_size, (void)error, (void)status;
  pthread_mutex_lock(&mutex);
  calls++;
  pthread_cond_signal(&called);
  pthread_mutex_unlock(&mutex);
}

static enroll_client *open_client(void) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  enroll_client *client = NULL;
  options.configuration =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example.app:/c\"}";
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store = ENROLL_STORE_MEMORY;
  expect(FIND(enroll_client_new)(&options, &client, NULL) == ENROLL_OK, "a client opens");
  return client;
}

/* Uses a client, a callback on the library's own thread, OpenSSL, and memory that the library allocates. */
static void use(void) {
  enroll_pkce pkce = ENROLL_PKCE_INIT;
  enroll_buf text = ENROLL_BUF_INIT;
  expect(FIND(enroll_pkce_generate)(&pkce, NULL) == ENROLL_OK && strlen(pkce.code_verifier) == 43, "a PKCE pair");
  expect(FIND(enroll_system_describe)(&text, NULL) == ENROLL_OK && text.size > 0, "a description");
  FIND(enroll_buf_free)(&text);
  enroll_client *client = open_client();
  int before = calls;
  expect(FIND(enroll_call_start)(client, "diagnostics.export", ENROLL_NUL_TERMINATED, NULL, 0, ENROLL_NO_TIMEOUT,
                                 count_call, NULL, NULL, NULL) == ENROLL_OK,
         "a call starts");
  pthread_mutex_lock(&mutex);
  while (calls == before) pthread_cond_wait(&called, &mutex);
  pthread_mutex_unlock(&mutex);
  expect(FIND(enroll_client_free)(client) == ENROLL_OK, "a client is freed");
}

int main(void) {
  enroll_client *kept = NULL;
  const char *name = NULL;
  for (int round = 0; round < ROUNDS; round++) {
    library = dlopen("libenroll.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
    use();
    if (kept == NULL) kept = open_client();
    name = FIND(enroll_status_name)(ENROLL_E_HANDLE);
    expect(dlclose(library) == 0, "dlclose");
  }
  /* A text and a handle that the library returned are still valid. */
  expect(strcmp(name, "handle") == 0, "static text outlives dlclose");
  library = dlopen("libenroll.so.0", RTLD_NOW | RTLD_LOCAL);
  expect(library != NULL, "it opens once more");
  expect(FIND(enroll_platform_ready)(kept, NULL) == ENROLL_OK, "a handle outlives dlclose");
  expect(FIND(enroll_client_free)(kept) == ENROLL_OK, "and is freed");
  expect(FIND(enroll_client_free)(kept) == ENROLL_E_HANDLE, "once");
  use();
  printf("%d calls came back\n", calls);
  return 0;
}
