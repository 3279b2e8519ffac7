/* Tests with invalid arguments: the call must return a status, name the field, and leave its outputs
 * unchanged (R41). */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

static const char configuration[] =
    "{\"issuer\":\"https://provider.example\",\"clientId\":\"native\",\"redirectUri\":\"com.example.app:/callback\"}";

static enroll_client_options memory_options(void) {
  enroll_client_options options = ENROLL_CLIENT_OPTIONS_INIT;
  options.configuration = configuration;
  options.configuration_size = sizeof configuration - 1;
  options.store = ENROLL_STORE_MEMORY;
  return options;
}

static void check_refused(const enroll_client_options *options, enroll_status expected, const char *field) {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = (enroll_client *)(void *)&error;
  CHECK_STATUS(expected, enroll_client_new(options, &client, &error));
  CHECK(client == (enroll_client *)(void *)&error);
  CHECK_NUMBER(expected, error.status);
  CHECK_TEXT(field, error.field);
}

TEST("a client opens with text that is sized, and with text that ends at its NUL") {
  enroll_client_options options = memory_options();
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = NULL;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_OK(enroll_client_free(client));
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.account = "somebody";
  options.account_size = ENROLL_NUL_TERMINATED;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_OK(enroll_client_free(client));
}

TEST("options and outputs that are NULL are refused") {
  enroll_client_options options = memory_options();
  enroll_client *client = NULL;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(NULL, &client, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_pkce_generate(NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_system_describe(NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_manifest(NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_redirect_parse("a:/b", 4, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_constant("ENROLL_OK", 9, NULL));
  provider *server = provider_new();
  client = provider_client(server, NULL);
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access(client, 0, 0, NULL, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_identity_profile(client, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_registration_begin(client, NULL, 0, NULL, NULL, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_logout_begin(client, 1, 0, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_call(client, "identity.profile", 16, NULL, 0, 0, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access_start(client, 0, 0, NULL, NULL, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_events_subscribe(client, NULL, NULL, NULL, NULL, NULL));
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("NULL with a size is refused, NULL without one is nothing") {
  enroll_client_options options = memory_options();
  options.configuration = NULL;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "configuration");
  options.configuration_size = ENROLL_NUL_TERMINATED;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "configuration");
  options = memory_options();
  options.account_size = 3;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "account");
  options = memory_options();
  options.store_directory_size = 7;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "store_directory");
  options = memory_options();
  options.app_version_size = 1;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "app_version");
}

TEST("text that is not UTF-8, or has a NUL inside, is refused (R37)") {
  static const char *const bad[] = {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
    enroll_client_options options = memory_options();
    options.account = bad[index];
    options.account_size = ENROLL_NUL_TERMINATED;
    check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "account");
    enroll_buf redirect = ENROLL_BUF_INIT;
    CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT,
                 enroll_redirect_parse(bad[index], ENROLL_NUL_TERMINATED, &redirect, NULL));
    CHECK(redirect.data == NULL);
  }
  enroll_client_options options = memory_options();
  options.account = "a\0b";
  options.account_size = 3;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "account");
}

TEST("configurations that are not acceptable JSON are refused (R37)") {
  static const char *const bad[] = {"{", "{\"issuer\":\"\xff\"}", "{\"a\":1,\"a\":2}", "{} {}", "nul"};
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
    enroll_client_options options = memory_options();
    options.configuration = bad[index];
    options.configuration_size = ENROLL_NUL_TERMINATED;
    check_refused(&options, ENROLL_E_JSON, "configuration");
  }
}

TEST("configurations that break a rule are refused, the key named") {
  static const struct {
    const char *json, *field;
  } bad[] = {
      {"{\"issuer\":\"http://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example:/c\"}", "issuer"},
      {"{\"issuer\":\"https://provider.example\",\"clientId\":\"\",\"redirectUri\":\"com.example:/c\"}", "clientId"},
      {"{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"http://192.0.2.1/c\"}",
       "redirectUri"},
      {"{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example:/c\",\"sopes\":1}",
       "sopes"},
  };
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
    enroll_client_options options = memory_options();
    options.configuration = bad[index].json;
    options.configuration_size = ENROLL_NUL_TERMINATED;
    check_refused(&options, ENROLL_E_CONFIGURATION, bad[index].field);
  }
}

TEST("a redirect whose scheme has no dot is accepted, as a provider may dictate it (R2)") {
  static const char dotless[] =
      "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"nodot:/c\"}";
  enroll_client_options options = memory_options();
  options.configuration = dotless;
  options.configuration_size = sizeof dotless - 1;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_OK(enroll_client_free(client));
}

TEST("texts over their limits are refused") {
  enroll_client_options options = memory_options();
  static char huge[2 << 20];
  memset(huge, 'a', sizeof huge - 1);
  options.account = huge;
  options.account_size = ENROLL_NUL_TERMINATED;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "account");
  options.account_size = 129;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "account");
  options = memory_options();
  options.configuration = huge;
  options.configuration_size = (1 << 20) + 1;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "configuration");
  enroll_buf redirect = ENROLL_BUF_INIT;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_redirect_parse(huge, (16 << 10) + 1, &redirect, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_redirect_parse(huge, (size_t)-2, &redirect, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_redirect_parse(huge, (size_t)1 << 63, &redirect, NULL));
  CHECK(redirect.data == NULL);
}

TEST("stores and constants out of range are refused") {
  enroll_client_options options = memory_options();
  options.store = 2;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "store");
  options.store = ENROLL_STORE_DIRECTORY;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "store_directory");
  options = memory_options();
  options.store_directory = "/tmp";
  options.store_directory_size = 4;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "store_directory");
}

TEST("a store that cannot be opened is refused, the folder named") {
  static const struct {
    const char *directory;
    enroll_status status;
  } bad[] = {
      {"relative/store", ENROLL_E_INVALID_ARGUMENT},
      {"/proc/no/such/store", ENROLL_E_STORE_REFUSED}, /* no folder to make it in */
      {"/proc/self/maps", ENROLL_E_STORE_REFUSED},     /* a file */
      {"/", ENROLL_E_STORE_REFUSED},                   /* open to others */
  };
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
    enroll_client_options options = memory_options();
    options.store = ENROLL_STORE_DIRECTORY;
    options.store_directory = bad[index].directory;
    options.store_directory_size = ENROLL_NUL_TERMINATED;
    check_refused(&options, bad[index].status, "store");
  }
}

TEST("an empty text is called empty where its size was to be measured, and its size is named where one was given") {
  static const struct {
    size_t size;
    const char *text;
  } cases[] = {{ENROLL_NUL_TERMINATED, "is empty"}, {0, "has size 0"}};
  for (size_t index = 0; index < 2; index++) {
    enroll_client_options options = memory_options();
    options.configuration = "";
    options.configuration_size = cases[index].size;
    enroll_client *client = NULL;
    enroll_error error = ENROLL_ERROR_INIT;
    CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
    CHECK(strstr(error.message, cases[index].text));
  }
}

static enroll_status never_sends(void *user_data, const enroll_http_request *request, enroll_http_response *response) {
  (void)request, (void)response;
  *(int *)user_data = 1;
  return ENROLL_E_NETWORK;
}

TEST("a sign-in whose loopback port is taken is refused before anything is sent (R4)") {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int taken = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_NUMBER(0, bind(taken, (struct sockaddr *)&address, size));
  CHECK_NUMBER(0, listen(taken, 1));
  CHECK_NUMBER(0, getsockname(taken, (struct sockaddr *)&address, &size));
  char text[256];
  snprintf(text, sizeof text,
           "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"http://127.0.0.1:%d/c\"}",
           ntohs(address.sin_port));
  int sent = 0;
  enroll_transport transport = ENROLL_TRANSPORT_INIT;
  transport.send = never_sends;
  transport.user_data = &sent;
  enroll_client_options options = memory_options();
  options.configuration = text;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  options.transport = &transport;
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_client *client = NULL;
  enroll_buf url = ENROLL_BUF_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_STATUS(ENROLL_E_BUSY, enroll_registration_begin(client, NULL, ENROLL_NO_TIMEOUT, NULL, &url, NULL, &error));
  CHECK_TEXT("redirectUri", error.field);
  CHECK(!sent);
  CHECK_OK(enroll_client_free(client));
  close(taken);
}

TEST("a struct that is too short is refused, and nothing is written") {
  for (size_t size = 0; size < sizeof(enroll_error); size += 8) {
    enroll_error error;
    memset(&error, 0x55, sizeof error);
    error.struct_size = size;
    enroll_error before = error;
    CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_platform_ready(NULL, &error));
    CHECK(memcmp(&before, &error, sizeof error) == 0);
  }
  enroll_pkce pkce = ENROLL_PKCE_INIT;
  enroll_error error = ENROLL_ERROR_INIT;
  pkce.struct_size--;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_pkce_generate(&pkce, &error));
  CHECK_TEXT("struct_size", error.field);
  CHECK(pkce.code_verifier[0] == 0);
  /* The message must contain the size that was passed and the sizes that are accepted. */
  char words[128];
  snprintf(words, sizeof words, "struct_size of enroll_pkce is %zu; expected %zu to 65536", pkce.struct_size,
           sizeof pkce);
  CHECK(strstr(error.message, words) != NULL);
  enroll_client_options options = memory_options();
  options.struct_size = 8;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "struct_size");
  options.struct_size = (size_t)-1;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "struct_size");
}

TEST("a text whose size was forgotten is told so") {
  enroll_client_options options = memory_options();
  options.configuration_size = 0;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_client_new(&options, &client, &error));
  CHECK_TEXT("configuration", error.field);
  CHECK(strstr(error.message, "size 0") != NULL);
}

TEST("the options of the first header are taken, and nothing behind them is read") {
  enroll_client_options options = memory_options();
  options.struct_size = offsetof(enroll_client_options, clock);
  memset((char *)&options + options.struct_size, 0x55, sizeof options - options.struct_size);
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_client_new(&options, &client, &error));
  CHECK_OK(enroll_client_free(client));
  options.struct_size--;
  check_refused(&options, ENROLL_E_INVALID_ARGUMENT, "struct_size");
}

TEST("a longer struct of a newer header is accepted while its new members are zero") {
  struct {
    enroll_client_options options;
    uint64_t newer[4];
  } longer;
  memset(&longer, 0, sizeof longer);
  longer.options = memory_options();
  longer.options.struct_size = sizeof longer;
  enroll_client *client = NULL;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_client_new(&longer.options, &client, &error));
  CHECK_OK(enroll_client_free(client));
  longer.newer[3] = 1;
  check_refused(&longer.options, ENROLL_E_UNSUPPORTED, "");
}

TEST("a longer output struct is written no further than this library knows") {
  struct {
    enroll_pkce pkce;
    char newer[32];
  } longer;
  memset(&longer, 0x55, sizeof longer);
  longer.pkce.struct_size = sizeof longer;
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_pkce_generate(&longer.pkce, &error));
  CHECK_NUMBER(sizeof longer, longer.pkce.struct_size);
  for (size_t index = 0; index < sizeof longer.newer; index++) CHECK(longer.newer[index] == 0x55);
}

TEST("the init functions do what the macros do") {
#define CHECK_INIT(type, macro)                          \
  do {                                                   \
    type by_macro = macro, by_function;                  \
    memset(&by_function, 0x55, sizeof by_function);      \
    type##_init(&by_function, sizeof by_function);       \
    CHECK(memcmp(&by_macro, &by_function, sizeof by_macro) == 0); \
    type##_init(NULL, sizeof by_function);               \
  } while (0)
  CHECK_INIT(enroll_error, ENROLL_ERROR_INIT);
  CHECK_INIT(enroll_client_options, ENROLL_CLIENT_OPTIONS_INIT);
  CHECK_INIT(enroll_state, ENROLL_STATE_INIT);
  CHECK_INIT(enroll_begin_options, ENROLL_BEGIN_OPTIONS_INIT);
  CHECK_INIT(enroll_transaction, ENROLL_TRANSACTION_INIT);
  CHECK_INIT(enroll_access, ENROLL_ACCESS_INIT);
  CHECK_INIT(enroll_pkce, ENROLL_PKCE_INIT);
  CHECK_INIT(enroll_transport, ENROLL_TRANSPORT_INIT);
  CHECK_INIT(enroll_keys, ENROLL_KEYS_INIT);
  CHECK_INIT(enroll_secret_store, ENROLL_SECRET_STORE_INIT);
}

TEST("a call that fails leaves its outputs alone, a call that succeeds its error") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_error error;
  enroll_error_init(&error, sizeof error);
  error.status = 42;
  enroll_state state;
  memset(&state, 0x55, sizeof state);
  state.struct_size = sizeof state;
  enroll_state before = state;
  CHECK_STATUS(ENROLL_E_ILLEGAL_STATE, enroll_registration_confirm(client, &state, &error));
  CHECK(memcmp(&before, &state, sizeof state) == 0);
  error.status = 42;
  CHECK_STATUS(ENROLL_OK, enroll_registration_state(client, 0, 0, &state, &error));
  CHECK_NUMBER(42, error.status);
  CHECK_NUMBER(ENROLL_STATE_UNREGISTERED, state.kind);
  CHECK_NUMBER(ENROLL_ACTIVE_REASON_NONE, state.active_reason);
  CHECK_NUMBER(1, state.is_settled);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("numbers out of range are refused by name") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf token = ENROLL_BUF_INIT;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access(client, -1, 0, NULL, &token, &error));
  CHECK_TEXT("minimum_lifetime", error.field);
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_access(client, 0, -2, NULL, &token, &error));
  CHECK_TEXT("timeout_ms", error.field);
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_registration_state(client, 1, INT64_MIN, NULL, &error));
  CHECK_STATUS(ENROLL_OK, enroll_registration_state(client, 1, INT64_MAX, NULL, &error));
  char room[8];
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_copy(client, 0, 0, NULL, 8, NULL, NULL, &error));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_token_copy(client, 0, 0, room, (size_t)-1, NULL, NULL, &error));
  CHECK_TEXT("buffer", error.field);
  enroll_begin_options options = ENROLL_BEGIN_OPTIONS_INIT;
  options.kind = 17;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_registration_begin(client, &options, 0, NULL, &token, NULL, &error));
  CHECK_TEXT("kind", error.field);
  options.kind = ENROLL_KIND_DEVICE;
  CHECK_STATUS(ENROLL_E_UNSUPPORTED,
               enroll_registration_begin(client, &options, ENROLL_NO_TIMEOUT, NULL, &token, NULL, &error));
  CHECK(token.data == NULL);
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("authorize parameters are a JSON object of strings") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  static const struct {
    const char *json;
    enroll_status status;
  } cases[] = {
      {"[]", ENROLL_E_INVALID_ARGUMENT}, {"{\"a\":1}", ENROLL_E_INVALID_ARGUMENT}, {"{\"a\":", ENROLL_E_JSON},
      {"{\"connection\":\"google\"}", ENROLL_OK}, {"{}", ENROLL_OK},
  };
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    enroll_begin_options options = ENROLL_BEGIN_OPTIONS_INIT;
    enroll_buf url = ENROLL_BUF_INIT;
    options.parameters = cases[index].json;
    options.parameters_size = ENROLL_NUL_TERMINATED;
    CHECK_STATUS(cases[index].status,
                 enroll_registration_begin(client, &options, ENROLL_NO_TIMEOUT, NULL, &url, NULL, NULL));
    CHECK((url.data != NULL) == (cases[index].status == ENROLL_OK));
    if (index == 3) CHECK(strstr(url.data, "connection=google") != NULL);
    enroll_buf_free(&url);
  }
  CHECK_STATUS(ENROLL_OK, enroll_client_free(client));
  provider_free(server);
}

TEST("what begin is told reaches the authorize URL") {
  provider *server = provider_new();
  enroll_client *client = provider_client(server, NULL);
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_begin_options options = ENROLL_BEGIN_OPTIONS_INIT;
  enroll_transaction transaction = ENROLL_TRANSACTION_INIT;
  enroll_buf url = ENROLL_BUF_INIT, redirect_uri = ENROLL_BUF_INIT;
  options.prompt = "login";
  options.prompt_size = 5;
  options.login_hint = "alice@example.com";
  options.login_hint_size = ENROLL_NUL_TERMINATED;
  options.ui_locales = "de fr";
  options.ui_locales_size = 5;
  options.scopes = "profile email";
  options.scopes_size = ENROLL_NUL_TERMINATED;
  CHECK_OK(enroll_registration_begin(client, &options, ENROLL_NO_TIMEOUT, &transaction, &url, &redirect_uri, &error));
  CHECK(strstr(url.data, "prompt=login") != NULL);
  CHECK(strstr(url.data, "login_hint=alice%40example.com") != NULL);
  CHECK(strstr(url.data, "ui_locales=de") != NULL);
  CHECK(strstr(url.data, "email") != NULL);
  CHECK(strstr(url.data, "code_challenge_method=S256") != NULL);
  CHECK_TEXT("com.example.app:/callback", redirect_uri.data);
  CHECK_NUMBER(ENROLL_ACTION_OPEN_URL, transaction.action);
  CHECK_NUMBER(1, transaction.survives_process);
  CHECK(strlen(transaction.id) >= 16);
  enroll_state state = ENROLL_STATE_INIT;
  CHECK_OK(enroll_registration_state(client, 0, 0, &state, &error));
  CHECK_NUMBER(ENROLL_STATE_AUTHENTICATING, state.kind);
  CHECK_NUMBER(ENROLL_STEP_BROWSER, state.step);
  CHECK_TEXT(transaction.id, state.transaction);
  CHECK_NUMBER(0, state.is_settled);
  enroll_buf_free(&url);
  enroll_buf_free(&redirect_uri);
  CHECK_OK(enroll_client_free(client));
  provider_free(server);
}

TEST("a long text is cut between characters, never inside one") {
  enroll_error error = ENROLL_ERROR_INIT;
  char json[2048] = "{\"issuer\":\"https://provider.example\",\"clientId\":\"n\",\"redirectUri\":\"com.example:/c\",\"";
  for (int index = 0; index < 200; index++) strcat(json, "\xe2\x82\xac");
  strcat(json, "\":1}");
  enroll_client_options options = memory_options();
  options.configuration = json;
  options.configuration_size = ENROLL_NUL_TERMINATED;
  enroll_client *client = NULL;
  CHECK_STATUS(ENROLL_E_CONFIGURATION, enroll_client_new(&options, &client, &error));
  CHECK(strlen(error.field) < sizeof error.field);
  CHECK_NUMBER(0, strlen(error.field) % 3);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
