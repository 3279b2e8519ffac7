/*
 * sign_in.c - measures whole sign-ins, each with a new store: opens a client, begins the sign-in, handles the
 * redirect, confirms the user, and reads the token. Prints the CPU time of each sign-in in microseconds; it
 * does not include waiting.
 *
 *     sign_in ISSUER FOLDER COUNT [INSTRUMENTED]
 *
 * For each sign-in, it prints the address to open, and then reads the address with which the browser came
 * back. INSTRUMENTED is the number of the sign-in whose instructions valgrind's callgrind counts, from 0.
 */

#include <string.h>

#include "enroll.h"
#include "rounds.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#define MINUTE 60000

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "sign_in: %s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

static int64_t cpu(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void sign_in(const char *configuration, const char *store) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = strlen(configuration);
  options.store_directory = store;
  options.store_directory_size = strlen(store);
  enroll_client *client;
  check(enroll_client_new(&options, &client, &error), &error);
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_begin(client, NULL, MINUTE, NULL, &url, NULL, &error), &error);
  puts(url.data);
  fflush(stdout);
  enroll_buf_free(&url);
  char redirect[4096];
  if (fgets(redirect, sizeof redirect, stdin) == NULL) exit(1);
  enroll_state state = ENROLL_STATE_INIT;
  check(enroll_registration_resume(client, redirect, strcspn(redirect, "\n"), MINUTE, &state, &error), &error);
  check(enroll_registration_confirm(client, &state, &error), &error);
  char token[8192];
  size_t size;
  check(enroll_token_copy(client, 0, MINUTE, token, sizeof token, &size, NULL, &error), &error);
  enroll_client_free(client);
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  char configuration[1024], store[1024];
  snprintf(configuration, sizeof configuration,
           "{\"issuer\":\"%s\",\"clientId\":\"sample-app\",\"redirectUri\":\"com.example.app:/callback\","
           "\"scopes\":\"openid profile email offline_access\",\"allowLoopbackHTTP\":true}",
           arguments[1]);
  int instrumented = count > 4 ? atoi(arguments[4]) : -1;
  for (int number = 0; number < atoi(arguments[3]); number++) {
    snprintf(store, sizeof store, "%s/store-%d", arguments[2], number);
    if (number == instrumented) CALLGRIND_START_INSTRUMENTATION;
    int64_t began = cpu();
    sign_in(configuration, store);
    int64_t ended = cpu();
    if (number == instrumented) CALLGRIND_STOP_INSTRUMENTATION;
    printf("%lld\n", (long long)(ended - began) / 1000);
    fflush(stdout);
  }
  return 0;
}
