/* Constants, names, and the functions that need no client: PKCE, redirects, links, expiry. */

#include <openssl/evp.h>

#include "check.h"
#include "constants.h" /* Written from enroll.h by the runner: every constant and struct, { name, value }. */

TEST("every constant of the header is told by its name, with its value") {
  for (size_t index = 0; index < sizeof constants / sizeof *constants; index++) {
    int64_t value = 4711;
    if (enroll_constant(constants[index].name, ENROLL_NUL_TERMINATED, &value) != ENROLL_OK)
      CHECK_FAIL("%s is not told", constants[index].name);
    if (value != constants[index].value)
      CHECK_FAIL("%s is %lld, told as %lld", constants[index].name, (long long)constants[index].value,
                 (long long)value);
  }
}

TEST("no constant is told that the header has not") {
  size_t count = 0;
  for (; enroll_constant_name(count) != NULL; count++) {
    int found = 0;
    for (size_t index = 0; index < sizeof constants / sizeof *constants; index++)
      if (strcmp(constants[index].name, enroll_constant_name(count)) == 0) found = 1;
    if (!found) CHECK_FAIL("%s is not in the header", enroll_constant_name(count));
  }
  CHECK_NUMBER(sizeof constants / sizeof *constants, count);
  int64_t value = 4711;
  CHECK_STATUS(ENROLL_E_NOT_FOUND, enroll_constant("ENROLL_E_NOTHING", ENROLL_NUL_TERMINATED, &value));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_constant(NULL, 0, &value));
  CHECK_NUMBER(4711, value);
  CHECK(enroll_constant_name((size_t)-1) == NULL);
}

TEST("a status has the name of its constant, words, and somebody to blame") {
  int statuses = 0;
  for (size_t index = 0; index < sizeof constants / sizeof *constants; index++) {
    const char *name = constants[index].name;
    if (strncmp(name, "ENROLL_E_", 9) != 0) continue;
    enroll_status status = (enroll_status)constants[index].value;
    char folded[64];
    size_t length = 0;
    for (const char *letter = name + 9; *letter != 0; letter++)
      if (*letter != '_') folded[length++] = (char)(*letter | 0x20);
    folded[length] = 0;
    char told[64];
    length = 0;
    for (const char *letter = enroll_status_name(status); *letter != 0; letter++) told[length++] = (char)(*letter | 0x20);
    told[length] = 0;
    CHECK_TEXT(folded, told);
    CHECK(strlen(enroll_status_summary(status)) > 10);
    CHECK(enroll_status_blame(status) != ENROLL_BLAME_NONE);
    statuses++;
  }
  CHECK(statuses > 40);
  CHECK_TEXT("ok", enroll_status_name(ENROLL_OK));
  CHECK_TEXT("unknown", enroll_status_name(-1000));
  CHECK_TEXT("unknown", enroll_status_name(1));
  CHECK_NUMBER(ENROLL_BLAME_NONE, enroll_status_blame(ENROLL_OK));
  CHECK_NUMBER(ENROLL_BLAME_CALLER, enroll_status_blame(ENROLL_E_HANDLE));
  CHECK_NUMBER(1, enroll_status_is_retryable(ENROLL_E_NETWORK));
  CHECK_NUMBER(0, enroll_status_is_retryable(ENROLL_E_TLS));
  CHECK_NUMBER(0, enroll_status_is_retryable(INT32_MIN));
}

TEST("names of numbers are those of JSON, and unknown numbers are said to be") {
  CHECK_TEXT("server", enroll_blame_name(ENROLL_BLAME_SERVER));
  CHECK_TEXT("awaitingConfirmation", enroll_state_name(ENROLL_STATE_AWAITING_CONFIRMATION));
  CHECK_TEXT("failed", enroll_state_name(ENROLL_STATE_REGISTRATION_FAILED));
  CHECK_TEXT("exchanging", enroll_step_name(ENROLL_STEP_EXCHANGING));
  CHECK_TEXT("none", enroll_active_reason_name(ENROLL_ACTIVE_REASON_NONE));
  CHECK_TEXT("notNative", enroll_active_reason_name(ENROLL_ACTIVE_REASON_NOT_NATIVE));
  CHECK_TEXT("valid", enroll_active_reason_name(ENROLL_ACTIVE_REASON_VALID));
  CHECK_TEXT("renewed", enroll_active_reason_name(ENROLL_ACTIVE_REASON_RENEWED));
  CHECK_TEXT("confirmed", enroll_active_reason_name(ENROLL_ACTIVE_REASON_CONFIRMED));
  CHECK_TEXT("registerAgain", enroll_remedy_name(ENROLL_REMEDY_REGISTER_AGAIN));
  static const int32_t numbers[] = {-1, 7, 99, INT32_MIN, INT32_MAX};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    CHECK_TEXT("unknown", enroll_blame_name(numbers[index]));
    CHECK_TEXT("unknown", enroll_state_name(numbers[index]));
    CHECK_TEXT("unknown", enroll_step_name(numbers[index]));
    CHECK_TEXT("unknown", enroll_active_reason_name(numbers[index]));
    CHECK_TEXT("unknown", enroll_remedy_name(numbers[index]));
  }
}

TEST("the library is the one that the header describes") {
  CHECK_NUMBER(ENROLL_ABI_VERSION, enroll_abi_version());
  int major, minor, patch;
  CHECK_NUMBER(3, sscanf(enroll_version_string(), "%d.%d.%d", &major, &minor, &patch));
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf description = ENROLL_BUF_INIT;
  CHECK_OK(enroll_system_describe(&description, &error));
  CHECK(strstr(description.data, enroll_version_string()) != NULL);
  enroll_buf_free(&description);
}

/* base64url without padding (RFC 4648 5), by OpenSSL. */
static void base64url(const unsigned char *bytes, int size, char *text) {
  EVP_EncodeBlock((unsigned char *)text, bytes, size);
  for (; *text != 0; text++) {
    if (*text == '+') *text = '-';
    if (*text == '/') *text = '_';
    if (*text == '=') *text = 0;
  }
}

TEST("a PKCE pair is 32 random octets and their SHA-256, base64url (RFC 7636 4.1, 4.2, R14)") {
  char last[ENROLL_PKCE_CAPACITY] = "";
  for (int round = 0; round < 100; round++) {
    enroll_error error = ENROLL_ERROR_INIT;
    enroll_pkce pkce = ENROLL_PKCE_INIT;
    CHECK_OK(enroll_pkce_generate(&pkce, &error));
    CHECK_NUMBER(43, strlen(pkce.code_verifier));
    CHECK_NUMBER(43, strspn(pkce.code_verifier, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"));
    unsigned char digest[EVP_MAX_MD_SIZE];
    char challenge[64];
    unsigned int size = 0;
    CHECK(EVP_Digest(pkce.code_verifier, 43, digest, &size, EVP_sha256(), NULL) == 1);
    base64url(digest, (int)size, challenge);
    CHECK_TEXT(challenge, pkce.code_challenge);
    CHECK(strcmp(last, pkce.code_verifier) != 0);
    memcpy(last, pkce.code_verifier, sizeof last);
    enroll_wipe(&pkce, sizeof pkce);
    CHECK(pkce.struct_size == 0 && pkce.code_verifier[0] == 0 && pkce.code_challenge[42] == 0);
  }
}

TEST("the check of a challenge agrees with RFC 7636, appendix B") {
  unsigned char digest[EVP_MAX_MD_SIZE];
  char challenge[64];
  unsigned int size = 0;
  CHECK(EVP_Digest("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", 43, digest, &size, EVP_sha256(), NULL) == 1);
  base64url(digest, (int)size, challenge);
  CHECK_TEXT("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", challenge);
}

TEST("wiping nothing does nothing") {
  char text[] = "secret";
  enroll_wipe(NULL, 7);
  enroll_wipe(text, 0);
  CHECK_TEXT("secret", text);
}

TEST("a redirect is read without being believed, and refused where R8 says so") {
  static const struct {
    const char *url;
    enroll_status status;
    const char *holds;
  } cases[] = {
      {"com.example.app:/cb?code=SplxlOBeZQQYbYS6WxSbIA&state=xyz", ENROLL_OK, "\"code\":\"SplxlOBeZQQYbYS6WxSbIA\""},
      {"com.example.app:/cb?code=a&state=b%20c", ENROLL_OK, "\"state\":\"b c\""},
      {"com.example.app:/cb?error=access_denied&state=xyz", ENROLL_OK, "\"error\":\"access_denied\""},
      {"https://client.example/cb?code=x1&state=z&iss=https%3A%2F%2Fhonest.as.example", ENROLL_OK,
       "\"iss\":\"https://honest.as.example\""},
      {"com.example.app:/cb?code=a&code=b&state=c", ENROLL_E_REDIRECT_MALFORMED, NULL},
      {"com.example.app:/cb?code=a&error=b&state=c", ENROLL_E_REDIRECT_MALFORMED, NULL},
      {"com.example.app:/cb?state=a&state=b&code=c", ENROLL_E_REDIRECT_MALFORMED, NULL},
      {"https://user@client.example/cb?code=a", ENROLL_E_REDIRECT_MALFORMED, NULL},
      {"not a url", ENROLL_E_REDIRECT_MALFORMED, NULL},
      {"", ENROLL_E_INVALID_ARGUMENT, NULL},
  };
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    enroll_buf redirect = ENROLL_BUF_INIT;
    enroll_status status = enroll_redirect_parse(cases[index].url, ENROLL_NUL_TERMINATED, &redirect, NULL);
    if (status != cases[index].status) CHECK_FAIL("%s: %s", cases[index].url, enroll_status_name(status));
    if (status == ENROLL_OK && strstr(redirect.data, cases[index].holds) == NULL)
      CHECK_FAIL("%s: %s", cases[index].url, redirect.data);
    CHECK((redirect.data == NULL) == (status != ENROLL_OK));
    enroll_buf_free(&redirect);
  }
}

TEST("a URL is routed to the configuration that owns it") {
  static const char configurations[] =
      "[{\"issuer\":\"https://dev.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.dev:/cb\"},"
      "{\"issuer\":\"https://prod.example\",\"clientId\":\"c\",\"redirectUri\":\"com.example.prod:/cb\"}]";
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf owner = ENROLL_BUF_INIT;
  CHECK_OK(enroll_redirect_route(configurations, ENROLL_NUL_TERMINATED, "com.example.prod:/cb?code=c",
                                 ENROLL_NUL_TERMINATED, &owner, &error));
  CHECK_TEXT("{\"index\":1,\"kind\":\"redirect\"}", owner.data);
  enroll_buf_free(&owner);
  CHECK_OK(enroll_redirect_route(configurations, ENROLL_NUL_TERMINATED, "com.example.test:/cb", ENROLL_NUL_TERMINATED,
                                 &owner, &error));
  CHECK_TEXT("{}", owner.data);
  enroll_buf_free(&owner);
  CHECK_STATUS(ENROLL_E_REDIRECT_MALFORMED, enroll_redirect_route(configurations, ENROLL_NUL_TERMINATED, "not a url",
                                                                  ENROLL_NUL_TERMINATED, &owner, &error));
  CHECK_STATUS(ENROLL_E_CONFIGURATION, enroll_redirect_route("[{}]", ENROLL_NUL_TERMINATED, "com.example.test:/cb",
                                                             ENROLL_NUL_TERMINATED, &owner, &error));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT,
               enroll_redirect_route("{}", ENROLL_NUL_TERMINATED, "a:/b", ENROLL_NUL_TERMINATED, &owner, &error));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_redirect_route(NULL, 0, "a:/b", 4, &owner, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT,
               enroll_redirect_route(configurations, ENROLL_NUL_TERMINATED, "a:/b", 4, NULL, NULL));
}

TEST("an installation id is reset in a store, and no store is no error") {
  enroll_error error = ENROLL_ERROR_INIT;
  CHECK_OK(enroll_installation_reset("/nonexistent/store", ENROLL_NUL_TERMINATED, NULL, &error));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_installation_reset(NULL, 0, NULL, NULL));
}

TEST("a link is read by the allow-list of R9, or refused") {
  enroll_error error = ENROLL_ERROR_INIT;
  enroll_buf link = ENROLL_BUF_INIT;
  CHECK_OK(enroll_link_parse("https://app.example/welcome/abc?x=1", ENROLL_NUL_TERMINATED, &link, &error));
  CHECK(strstr(link.data, "\"host\":\"app.example\"") != NULL);
  enroll_buf_free(&link);
  static const char *const bad[] = {"https://a@app.example/", "https://app.example\\@evil.example/",
                                    "https://app.example./", "https://app.example:99999/", "https://\xc3\xa4.example/"};
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++)
    CHECK_STATUS(ENROLL_E_REDIRECT_MALFORMED, enroll_link_parse(bad[index], ENROLL_NUL_TERMINATED, &link, NULL));
  CHECK(link.data == NULL);
}

TEST("a token is fresh, due or expired, and absurd numbers neither trap nor wrap") {
  static const struct {
    int64_t expires_at, now, lifetime, grace, minimum;
    int32_t band;
    int64_t left;
  } cases[] = {
      {1000, 0, 0, 60, 0, ENROLL_BAND_FRESH, 1000},
      {1000, 939, 0, 60, 0, ENROLL_BAND_FRESH, 61},
      {1000, 940, 0, 60, 0, ENROLL_BAND_DUE, 60},
      {1000, 999, 0, 60, 0, ENROLL_BAND_DUE, 1},
      {1000, 1000, 0, 60, 0, ENROLL_BAND_EXPIRED, 0},
      {1000, 1001, 0, 60, 0, ENROLL_BAND_EXPIRED, -1},
      {1000, 700, 0, 60, 300, ENROLL_BAND_DUE, 300},
      {1000, 699, 0, 60, 300, ENROLL_BAND_FRESH, 301},
      {100, 70, 40, 60, 0, ENROLL_BAND_FRESH, 30},
      {100, 80, 40, 60, 0, ENROLL_BAND_DUE, 20},
      {2147483648LL, 2147483647LL, 0, 0, 0, ENROLL_BAND_FRESH, 1},
      {INT64_MAX, INT64_MIN, 0, 60, 0, ENROLL_BAND_FRESH, INT64_MAX},
      {INT64_MIN, INT64_MAX, 0, 60, 0, ENROLL_BAND_EXPIRED, INT64_MIN},
      {0, 0, INT64_MAX, INT64_MAX, INT64_MAX, ENROLL_BAND_EXPIRED, 0},
  };
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    int32_t band = 0;
    int64_t left = 0;
    enroll_error error = ENROLL_ERROR_INIT;
    CHECK_OK(enroll_expiry_check(cases[index].expires_at, cases[index].now, cases[index].lifetime, cases[index].grace,
                                 cases[index].minimum, &band, &left, &error));
    if (band != cases[index].band || left != cases[index].left)
      CHECK_FAIL("case %zu: band %d, %lld seconds left", index, band, (long long)left);
  }
  int32_t band = 4711;
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_expiry_check(0, 0, 0, -1, 0, &band, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_expiry_check(0, 0, 0, 0, -1, &band, NULL, NULL));
  CHECK_STATUS(ENROLL_E_INVALID_ARGUMENT, enroll_expiry_check(0, 0, -1, 0, 0, &band, NULL, NULL));
  CHECK_NUMBER(4711, band);
}

int main(int count, char **arguments) { return check_main(count, arguments); }
