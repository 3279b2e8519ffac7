/*
 * provider.h - a provider inside the test's own process, which clients reach through enroll_transport: there
 * is no network, and the test chooses every answer. The provider issues no id_token: its clients do not
 * request the scope `openid`, and their profile comes from userinfo.
 */
#ifndef ENROLL_TEST_PROVIDER_H
#define ENROLL_TEST_PROVIDER_H

#include "enroll.h"

typedef struct provider provider;

provider *provider_new(void);
/* Frees the provider. The caller must have freed the provider's clients before. */
void provider_free(provider *server);

/* Opens a client of the provider. `directory` is the directory of the store; NULL keeps the store in memory.
   */
enroll_client *provider_client(provider *server, const char *directory);
/* Opens a client with these options. This function itself sets the configuration, the store and the transport
 * in the options. */
enroll_client *provider_open(provider *server, const char *directory, enroll_client_options options);
/* Opens a client as provider_client does; the user has also signed in and confirmed the profile. */
enroll_client *provider_signed_in(provider *server, const char *directory);
/* Signs in with a client that has no session yet. */
void provider_sign_in(provider *server, enroll_client *client);
/* The redirect to which the browser returns after it opened `url`. The caller frees it. */
char *provider_redirect(provider *server, const char *url);

/* Sets how long the tokens of the next answers live, in seconds. */
void provider_set_lifetime(provider *server, int64_t seconds);
/* Sets the length of the access tokens of the next answers, in bytes; 0 for short tokens. */
void provider_set_token_bytes(provider *server, int bytes);
/* Sets the status of the token endpoint's next answers: 200 issues tokens, and any other status has an empty JSON
 * object. */
void provider_set_token_status(provider *server, int status);
/* Makes requests to the token endpoint wait until provider_release is called. */
void provider_hold(provider *server);
void provider_release(provider *server);
/* Waits until `count` requests have reached the token endpoint. */
void provider_wait_for_requests(provider *server, int count);
int provider_token_requests(provider *server);
/* Sets a function that the transport calls inside `send`, on the thread of `send`. NULL removes the function.
 * */
void provider_on_send(provider *server, void (*hook)(void *hook_data), void *hook_data);

/* The user_data of completion callbacks: an event to wait for, and the results that arrived. */
typedef struct waiter {
  void *sync;
  int calls;
  enroll_status status;
  enroll_status reason;
  int32_t state_kind;
  int32_t outcome;
  char text[1024];
} waiter;

waiter *waiter_new(void);
void waiter_free(waiter *waiting);
void waiter_wait(waiter *waiting);
void waiter_wait_for(waiter *waiting, int calls);

/* Callbacks that fill a waiter. */
void waiter_state(void *waiting, enroll_status status, const enroll_state *state, const enroll_error *error);
void waiter_begun(void *waiting, enroll_status status, const enroll_transaction *transaction, const char *url,
                  const char *redirect_uri, const enroll_error *error);
void waiter_access(void *waiting, enroll_status status, const enroll_access *access, const char *token,
                   size_t token_size, const enroll_error *error);
void waiter_result(void *waiting, enroll_status status, const char *result, size_t result_size,
                   const enroll_error *error);
void waiter_event(void *waiting, const char *name, const char *parameters, size_t parameters_size);

#endif
