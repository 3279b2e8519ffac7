/*
 * token_copy.c - compares the C call for a valid cached token with the least that plain C would need: a mutex, one
 * reading of the monotonic clock and a memcpy. Both run in alternating rounds; the program prints medians and their
 * ratio (performance.md, What is measured). It also compares a cached token for an audience with the session's own
 * token.
 *
 *     token_copy [CALLS ROUNDS]
 */

#include <pthread.h>
#include <string.h>

#include "../../faces/CTests/provider.h"
#include "enroll.h"
#include "rounds.h"

#define TOKEN_BYTES 900

/* The plain C code for comparison. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char cached[TOKEN_BYTES];
static int64_t fresh_until;

__attribute__((noinline)) static int copy_in_c(char *buffer, size_t capacity, size_t *size, int64_t *expires_at) {
  pthread_mutex_lock(&mutex);
  int is_fresh = bench_now() < fresh_until && capacity > sizeof cached;
  if (is_fresh) {
    memcpy(buffer, cached, sizeof cached);
    buffer[sizeof cached] = 0;
    *size = sizeof cached;
    *expires_at = fresh_until;
  }
  pthread_mutex_unlock(&mutex);
  return is_fresh;
}

/* Gets a token for an audience. The client keeps no other token then: the renewal may have ended them (R44). */
static enroll_audience cached_audience(enroll_client *client) {
  enroll_audience audience = ENROLL_AUDIENCE_INIT;
  char buffer[2048];
  audience.resource = "https://api.example/services/number/1";
  audience.resource_size = ENROLL_NUL_TERMINATED;
  audience.scope = "write read";
  audience.scope_size = ENROLL_NUL_TERMINATED;
  if (enroll_token_copy_for(client, &audience, 0, 30000, buffer, sizeof buffer, NULL, NULL, NULL) != ENROLL_OK) exit(1);
  return audience;
}

int main(int count, char **arguments) {
  /* Many short rounds: other work on the machine then affects both sides alike, or only few of the ratios. */
  int calls = count > 1 ? atoi(arguments[1]) : 2000;
  int rounds = count > 2 ? atoi(arguments[2]) : 2001;
  if (calls < 1 || rounds < 1 || rounds > 10000) return 2;
  provider *server = provider_new();
  provider_set_token_bytes(server, TOKEN_BYTES);
  enroll_client *client = provider_signed_in(server, NULL);
  double *by_library = bench_numbers(rounds), *by_c = bench_numbers(rounds), *ratios = bench_numbers(rounds);
  double *by_audience = bench_numbers(rounds), *audience_ratios = bench_numbers(rounds);
  enroll_client *other = provider_signed_in(server, NULL);
  enroll_audience audience = cached_audience(other);
  char buffer[2048];
  size_t size = 0;
  int64_t expires_at = 0;
  fresh_until = INT64_MAX;
  memset(cached, 'a', sizeof cached);

  for (int round = 0; round < rounds; round++) {
    int64_t began = bench_now();
    for (int call = 0; call < calls; call++)
      if (!copy_in_c(buffer, sizeof buffer, &size, &expires_at)) return 1;
    int64_t middle = bench_now();
    for (int call = 0; call < calls; call++)
      if (enroll_token_copy(client, 0, 0, buffer, sizeof buffer, &size, &expires_at, NULL) != ENROLL_OK) return 1;
    int64_t ended = bench_now();
    for (int call = 0; call < calls; call++)
      if (enroll_token_copy_for(other, &audience, 0, 0, buffer, sizeof buffer, &size, &expires_at, NULL) != ENROLL_OK)
        return 1;
    by_audience[round] = (double)(bench_now() - ended) / calls;
    if (size != TOKEN_BYTES) return 1;
    by_c[round] = (double)(middle - began) / calls;
    by_library[round] = (double)(ended - middle) / calls;
    ratios[round] = by_library[round] / by_c[round];
    audience_ratios[round] = by_audience[round] / by_library[round];
  }
  bench_line("valid cached token by C", by_library, by_c, ratios, rounds, "ns", "");
  bench_line("cached token for an audience", by_audience, by_library, audience_ratios, rounds, "ns", "");
  enroll_client_free(client);
  enroll_client_free(other);
  provider_free(server);
  free(by_library);
  free(by_c);
  free(ratios);
  free(by_audience);
  free(audience_ratios);
  return 0;
}
