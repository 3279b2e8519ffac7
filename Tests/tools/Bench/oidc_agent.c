/*
 * oidc_agent.c - compares the C call for a valid cached token with the same call of liboidc-agent, which asks its
 * agent over a socket. Both run in one process, in alternating rounds. The environment names the agent; ACCOUNT is
 * its account.
 *
 *     oidc_agent ACCOUNT
 */

#include <oidc-agent/api.h>

#include "../../faces/CTests/provider.h"
#include "enroll.h"
#include "rounds.h"

#define ROUNDS 1001
#define CALLS 1000
#define TOKEN_BYTES 900

int main(int count, char **arguments) {
  if (count != 2) return 2;
  provider *server = provider_new();
  provider_set_token_bytes(server, TOKEN_BYTES);
  enroll_client *client = provider_signed_in(server, NULL);
  double *ours = bench_numbers(ROUNDS), *theirs = bench_numbers(ROUNDS), *ratios = bench_numbers(ROUNDS);
  char buffer[2048];
  size_t size = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int64_t began = bench_now();
    for (int call = 0; call < CALLS; call++)
      if (enroll_token_copy(client, 0, 0, buffer, sizeof buffer, &size, NULL, NULL) != ENROLL_OK) return 1;
    int64_t middle = bench_now();
    struct token_response answer = getTokenResponse(arguments[1], 60, NULL, "bench");
    int64_t ended = bench_now();
    if (answer.token == NULL) {
      oidcagent_perror();
      return 1;
    }
    secFreeTokenResponse(answer);
    ours[round] = (double)(middle - began) / CALLS;
    theirs[round] = (double)(ended - middle);
    ratios[round] = theirs[round] / ours[round];
  }
  char more[64];
  snprintf(more, sizeof more, ",\"theirs_p99\":%.0f", bench_share(theirs, ROUNDS, 0.99));
  bench_line("valid cached token by C, how many times faster", ours, theirs, ratios, ROUNDS, "ns", more);
  enroll_client_free(client);
  provider_free(server);
  return 0;
}
