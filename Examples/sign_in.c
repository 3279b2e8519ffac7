#include <enroll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60000

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "%s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s ISSUER STORE\n", argv[0]), 2;
  char configuration[1024];
  snprintf(configuration, sizeof configuration,
           "{\"issuer\": \"%s\", \"clientId\": \"sample-app\", \"redirectUri\": \"http://127.0.0.1/callback\","
           " \"scopes\": \"openid profile email offline_access\","
           " \"allowLoopbackHTTP\": true}", /* only for a provider on this machine */
           argv[1]);

  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = strlen(configuration);
  options.store_directory = argv[2];
  options.store_directory_size = strlen(argv[2]);
  enroll_client *client;
  check(enroll_client_new(&options, &client, &error), &error);

  enroll_state state = ENROLL_STATE_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_state(client, 0, MINUTE, &state, &error), &error);
  if (state.kind != ENROLL_STATE_AWAITING_CONFIRMATION) { /* otherwise an earlier run has not confirmed yet */
    enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
    check(enroll_registration_begin(client, NULL, MINUTE, &transaction, &url, NULL, &error), &error);
    printf("Open this in your browser: %s\n", url.data);
    fflush(stdout);
    enroll_buf_free(&url);
    size_t size = strlen(transaction.id); /* the loopback listener receives the redirect */
    check(enroll_registration_await_outcome(client, transaction.id, size, 10 * MINUTE, &state, &error), &error);
  }
  if (state.kind == ENROLL_STATE_AWAITING_CONFIRMATION) {
    enroll_buf transaction = ENROLL_BUF_INIT, profile = ENROLL_BUF_INIT;
    check(enroll_account_waiting(client, &transaction, &profile, NULL, &error), &error);
    const char *name = strstr(profile.data, "\"name\":\""); /* a real program uses a JSON parser */
    name = name ? name + strlen("\"name\":\"") : "somebody\"";
    printf("Hello, %.*s; is this you?\n", (int)strcspn(name, "\""), name);
    check(enroll_registration_confirm_transaction(client, transaction.data, transaction.size, &state, &error), &error);
    enroll_buf_free(&profile);
    enroll_buf_free(&transaction);
  }

  char token[8192]; /* before every request; allocates nothing while the token is fresh */
  size_t size;
  check(enroll_token_copy(client, 0, MINUTE, token, sizeof token, &size, NULL, &error), &error);
  printf("A valid token of %zu bytes.\n", size);
  enroll_wipe(token, sizeof token);

  check(enroll_logout_begin(client, 0, MINUTE, &url, &error), &error);
  if (url.size > 0) printf("To end the browser's session, open: %s\n", url.data);
  enroll_buf_free(&url);
  enroll_client_free(client);
  return 0;
}
