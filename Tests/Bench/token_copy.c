/*
 * token_copy.c - a cached valid token through the C call, beside what C itself would need: a mutex, a look at the
 * monotonic clock and a memcpy. Both in one run, in alternating rounds; medians, and their ratio (performance.md,
 * What is measured). And a cached token for another audience beside the session's own, with 8 audiences in memory.
 *
 *     cc -O2 -Iinclude Tests/Bench/token_copy.c Tests/CTests/provider.c -Lbuild/small -lenroll -lpthread
 *     LD_LIBRARY_PATH=build/small ./a.out [CALLS ROUNDS]
 *
 * Prints one JSON object.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../CTests/provider.h"
#include "enroll.h"

#define TOKEN_BYTES 900

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The C way. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char cached[TOKEN_BYTES];
static int64_t fresh_until;

__attribute__((noinline)) static int copy_in_c(char *buffer, size_t capacity, size_t *size, int64_t *expires_at) {
  pthread_mutex_lock(&mutex);
  int is_fresh = now() < fresh_until && capacity > sizeof cached;
  if (is_fresh) {
    memcpy(buffer, cached, sizeof cached);
    buffer[sizeof cached] = 0;
    *size = sizeof cached;
    *expires_at = fresh_until;
  }
  pthread_mutex_unlock(&mutex);
  return is_fresh;
}

static int by_number(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

static double median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, by_number);
  return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

#define AUDIENCES 8

/* The one that is looked for last. */
static enroll_audience last_of_audiences(enroll_client *client) {
  static char resources[AUDIENCES][64];
  enroll_audience audience = ENROLL_AUDIENCE_INIT;
  char buffer[2048];
  audience.scope = "read write";
  audience.scope_size = ENROLL_NUL_TERMINATED;
  audience.resource_size = ENROLL_NUL_TERMINATED;
  for (int call = 0; call < 2 * AUDIENCES; call++) {
    int index = call % AUDIENCES;
    snprintf(resources[index], sizeof *resources, "https://api.example/services/number/%d", index);
    audience.resource = resources[index];
    if (enroll_token_copy_for(client, &audience, 0, 30000, buffer, sizeof buffer, NULL, NULL, NULL) != ENROLL_OK) exit(1);
  }
  audience.scope = "write read";
  return audience;
}

int main(int count, char **arguments) {
  /* Many short rounds: what else the machine does falls on both sides, or on few of the ratios. */
  int calls = count > 1 ? atoi(arguments[1]) : 2000;
  int rounds = count > 2 ? atoi(arguments[2]) : 2001;
  if (calls < 1 || rounds < 1 || rounds > 10000) return 2;
  provider *server = provider_new();
  provider_set_token_bytes(server, TOKEN_BYTES);
  enroll_client *client = provider_signed_in(server, NULL);
  double *by_library = calloc((size_t)rounds, sizeof *by_library), *by_c = calloc((size_t)rounds, sizeof *by_c);
  double *ratios = calloc((size_t)rounds, sizeof *ratios);
  double *by_audience = calloc((size_t)rounds, sizeof *by_audience);
  double *audience_ratios = calloc((size_t)rounds, sizeof *audience_ratios);
  enroll_audience audience = last_of_audiences(client);
  char buffer[2048];
  size_t size = 0;
  int64_t expires_at = 0;
  fresh_until = INT64_MAX;
  memset(cached, 'a', sizeof cached);

  for (int round = 0; round < rounds; round++) {
    int64_t began = now();
    for (int call = 0; call < calls; call++)
      if (!copy_in_c(buffer, sizeof buffer, &size, &expires_at)) return 1;
    int64_t middle = now();
    for (int call = 0; call < calls; call++)
      if (enroll_token_copy(client, 0, 0, buffer, sizeof buffer, &size, &expires_at, NULL) != ENROLL_OK) return 1;
    int64_t ended = now();
    for (int call = 0; call < calls; call++)
      if (enroll_token_copy_for(client, &audience, 0, 0, buffer, sizeof buffer, &size, &expires_at, NULL) != ENROLL_OK)
        return 1;
    by_audience[round] = (double)(now() - ended) / calls;
    if (size != TOKEN_BYTES) return 1;
    by_c[round] = (double)(middle - began) / calls;
    by_library[round] = (double)(ended - middle) / calls;
    ratios[round] = by_library[round] / by_c[round];
    audience_ratios[round] = by_audience[round] / by_library[round];
  }
  printf("{\"what\":\"cached token into the caller's buffer\",\"bytes\":%d,\"calls\":%d,\"rounds\":%d,"
         "\"enroll_ns\":%.1f,\"c_ns\":%.1f,\"ratio\":%.2f,\"goal\":1.5,\"audience_ns\":%.1f,\"audience_ratio\":%.2f}\n",
         TOKEN_BYTES, calls, rounds, median(by_library, rounds), median(by_c, rounds), median(ratios, rounds),
         median(by_audience, rounds), median(audience_ratios, rounds));
  enroll_client_free(client);
  provider_free(server);
  free(by_library);
  free(by_c);
  free(ratios);
  free(by_audience);
  free(audience_ratios);
  return 0;
}
