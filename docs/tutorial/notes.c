/* Notes: a program that signs its user in once and asks an API who the user is. docs/tutorial/c.md
 * explains each part. */

// example: configuration
#include <curl/curl.h>
#include <enroll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60000

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  fprintf(stderr, "notes: %s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

static enroll_client *open_client(const char *issuer, enroll_error *error) {
  char configuration[1024], store[4096];
  snprintf(configuration, sizeof configuration,
           "{\"issuer\": \"%s\", \"clientId\": \"sample-app\", \"redirectUri\": \"http://127.0.0.1/callback\","
           " \"scopes\": \"openid profile email offline_access\","
           " \"allowLoopbackHTTP\": true}", /* only for a provider on this machine */
           issuer);
  snprintf(store, sizeof store, "%s/.notes", getenv("HOME"));

  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.store_directory = store;
  options.store_directory_size = ENROLL_NUL_TERMINATED;
  enroll_client *client;
  check(enroll_client_new(&options, &client, error), error);
  return client;
}
// end

// example: sign-in
static void open_browser(enroll_client *client, enroll_state *state, enroll_error *error) {
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_begin(client, NULL, MINUTE, &transaction, &url, NULL, error), error);
  printf("Open this in your browser: %s\n", url.data);
  fflush(stdout);
  enroll_buf_free(&url);
  check(enroll_registration_await_outcome( /* the redirect comes back to a port of ours */
            client, transaction.id, ENROLL_NUL_TERMINATED, 10 * MINUTE, state, error),
        error);
}

static void confirm(enroll_client *client, enroll_error *error) {
  enroll_buf transaction = ENROLL_BUF_INIT, profile = ENROLL_BUF_INIT;
  check(enroll_account_waiting(client, &transaction, &profile, NULL, error), error);
  printf("You signed in with this profile: %s\n", profile.data);
  check(enroll_registration_confirm_transaction(client, transaction.data, transaction.size, NULL, error), error);
  enroll_buf_free(&profile);
  enroll_buf_free(&transaction);
}

static void sign_in(enroll_client *client, enroll_error *error) {
  enroll_state state = ENROLL_STATE_INIT;
  check(enroll_registration_state(client, 0, MINUTE, &state, error), error);
  if (state.kind != ENROLL_STATE_AWAITING_CONFIRMATION) /* as after a program that ended before it confirmed */
    open_browser(client, &state, error);
  if (state.kind == ENROLL_STATE_AWAITING_CONFIRMATION) confirm(client, error);
}

static void access_token(enroll_client *client, enroll_buf *token, enroll_error *error) {
  enroll_access access = ENROLL_ACCESS_INIT;
  enroll_status status = enroll_token_access(client, 0, MINUTE, &access, token, error);
  if (status == ENROLL_E_REAUTHENTICATE || status == ENROLL_E_ILLEGAL_STATE) {
    /* nobody is signed in, the provider ended the session, or the user has not confirmed yet */
    sign_in(client, error);
    status = enroll_token_access(client, 0, MINUTE, &access, token, error);
  }
  check(status, error);
}
// end

// example: request
static void ask_who(enroll_client *client, const char *issuer, enroll_error *error) {
  enroll_buf token = ENROLL_BUF_INIT;
  access_token(client, &token, error);
  char address[1024];
  snprintf(address, sizeof address, "%s/userinfo", issuer);

  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, address);
  curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
  curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, token.data);
  enroll_buf_free(&token); /* curl has a copy; EnrollKit wipes its own */
  printf("The API knows you as ");
  fflush(stdout);
  CURLcode sent = curl_easy_perform(curl); /* writes the answer to stdout */
  curl_easy_cleanup(curl);
  if (sent != CURLE_OK) fprintf(stderr, "notes: %s\n", curl_easy_strerror(sent)), exit(1);
  puts("");
}
// end

// example: main
int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: notes ISSUER [logout]\n"), 2;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = open_client(argv[1], &error);
  if (argc > 2 && strcmp(argv[2], "logout") == 0) {
    enroll_buf url = ENROLL_BUF_INIT; /* of the provider's page that ends the session in the browser, if it has one */
    check(enroll_logout_begin(client, 0, MINUTE, &url, &error), &error);
    enroll_buf_free(&url);
    puts("You are signed out.");
  } else {
    ask_who(client, argv[1], &error);
  }
  enroll_client_free(client);
  return 0;
}
// end
