#include <enroll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60000
#define APP "{\"app\": \"c-app\"}" /* the app's id in the gateway's configuration */

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "gateway_app: %s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

/* Finds a text member of a JSON object. A real program would use a JSON parser. */
static const char *member(const char *json, const char *name, int *size) {
  const char *text = strstr(json, name);
  text = text ? text + strlen(name) : "?";
  *size = (int)strcspn(text, "\"");
  return text;
}

static enroll_client *open_client(const char *gateway, const char *store, enroll_error *error) {
  char configuration[2048];
  snprintf(configuration, sizeof configuration,
           "{\"issuer\": \"%s\", \"clientId\": \"c-app\", \"redirectUri\": \"http://127.0.0.1/callback\","
           " \"scopes\": \"profile\", \"bff\": {\"base\": \"%s\"},"
           " \"registrationCheckUri\": \"%s/v1/registration-check\","
           " \"requireCheck\": true,"       /* notices a session that the user ended elsewhere */
           " \"allowLoopbackHTTP\": true}", /* only for a gateway on this machine */
           gateway, gateway, gateway);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = strlen(configuration);
  options.store_directory = store;
  options.store_directory_size = strlen(store);
  enroll_client *client;
  check(enroll_client_new(&options, &client, error), error);
  return client;
}

static void sign_in(enroll_client *client, const char *provider, enroll_state *state, enroll_error *error) {
  enroll_begin_options options = ENROLL_BEGIN_OPTIONS_INIT;
  options.kind = ENROLL_KIND_BFF;
  options.connection = provider;
  options.connection_size = strlen(provider);
  options.parameters = APP;
  options.parameters_size = strlen(APP);
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_begin(client, &options, MINUTE, &transaction, &url, NULL, error), error);
  printf("Open this in your browser: %s\n", url.data);
  fflush(stdout);
  enroll_buf_free(&url);

  size_t size = strlen(transaction.id);
  check(enroll_registration_await_outcome(client, transaction.id, size, 10 * MINUTE, state, error), error);
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: %s GATEWAY STORE PROVIDER\n", argv[0]), 2;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = open_client(argv[1], argv[2], &error);

  enroll_state state = ENROLL_STATE_INIT;
  check(enroll_registration_state(client, 1, MINUTE, &state, &error), &error);
  if (state.kind != ENROLL_STATE_ACTIVE && state.kind != ENROLL_STATE_AWAITING_CONFIRMATION)
    sign_in(client, argv[3], &state, &error);
  if (state.kind == ENROLL_STATE_AWAITING_CONFIRMATION) /* a real app shows the profile first, and asks */
    check(enroll_registration_confirm_transaction(client, state.transaction, strlen(state.transaction), &state, &error),
          &error);

  enroll_buf claims = ENROLL_BUF_INIT;
  check(enroll_identity_userinfo(client, MINUTE, &claims, &error), &error);
  int name_size, account_size;
  const char *name = member(claims.data, "\"name\":\"", &name_size);
  const char *account = member(claims.data, "\"sub\":\"", &account_size);
  printf("Signed in as %.*s, account %.*s.\n", name_size, name, account_size, account);
  enroll_buf_free(&claims);
  enroll_client_free(client);
  return 0;
}
