/* A sign-in with a mistake: `bad_input CONFIGURATION STORE KEYS SECONDS` prints "status: message" of the first call
 * that fails, or "signed in". KEYS is the number of an ENROLL_KEYS_* constant. Tests/faces/ReadmeTests/bad_input.py
 * runs this program. */
#include <enroll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(enroll_status status, const enroll_error *error) {
  if (status == ENROLL_OK) return;
  printf("%s: %s\n", enroll_status_name(status), error->message);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 5) return fputs("usage: bad_input CONFIGURATION STORE KEYS SECONDS\n", stderr), 2;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_keys keys = ENROLL_KEYS_INIT;
  keys.provider = atoi(argv[3]);
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = argv[1];
  options.configuration_size = strlen(argv[1]);
  options.store_directory = argv[2];
  options.store_directory_size = strlen(argv[2]);
  options.keys = &keys;
  enroll_client *client;
  check(enroll_client_new(&options, &client, &error), &error);

  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT;
  check(enroll_registration_begin(client, NULL, 30000, &transaction, &url, NULL, &error), &error);
  fprintf(stderr, "%s\n", url.data);
  enroll_buf_free(&url);
  enroll_state state = ENROLL_STATE_INIT;
  check(enroll_registration_await_outcome(
            client, transaction.id, strlen(transaction.id), 1000 * atoi(argv[4]), &state, &error),
        &error);
  puts("signed in");
  enroll_client_free(client);
  return 0;
}
