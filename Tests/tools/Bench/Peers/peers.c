#include "peers.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int64_t reading(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t peer_cpu(void) { return reading(CLOCK_THREAD_CPUTIME_ID); }
int64_t peer_wall(void) { return reading(CLOCK_MONOTONIC); }

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encode(const uint8_t *bytes, size_t size, char *text) {
  size_t length = 0;
  for (size_t at = 0; at < size; at += 3) {
    uint32_t group = (uint32_t)bytes[at] << 16 | (at + 1 < size ? bytes[at + 1] << 8 : 0) | (at + 2 < size ? bytes[at + 2] : 0);
    text[length++] = alphabet[group >> 18];
    text[length++] = alphabet[group >> 12 & 63];
    if (at + 1 < size) text[length++] = alphabet[group >> 6 & 63];
    if (at + 2 < size) text[length++] = alphabet[group & 63];
  }
  text[length] = 0;
  return length;
}

// Decodes base64url. Returns the number of bytes written, or -1.
static long decode(const uint8_t *text, size_t size, uint8_t *bytes) {
  static int8_t values[256];
  if (values['A' + 1] == 0) {
    memset(values, -1, sizeof values);
    for (int at = 0; at < 64; at++) values[(uint8_t)alphabet[at]] = (int8_t)at;
  }
  uint32_t group = 0;
  int bits = 0;
  long length = 0;
  for (size_t at = 0; at < size; at++) {
    int value = values[text[at]];
    if (value < 0) return -1;
    group = group << 6 | (uint32_t)value;
    bits += 6;
    if (bits >= 8) bytes[length++] = (uint8_t)(group >> (bits -= 8));
  }
  return length;
}

int peer_pkce(void) {
  static EVP_MD *sha256;
  if (!sha256) sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL);
  uint8_t random[32], hash[32];
  char verifier[44], challenge[44];
  if (getrandom(random, sizeof random, 0) != sizeof random) return 0;
  size_t length = encode(random, sizeof random, verifier);
  if (EVP_Digest(verifier, length, hash, NULL, sha256, NULL) != 1) return 0;
  return encode(hash, sizeof hash, challenge) == 43;
}

// The value of a parameter in `query`, decoded; to be freed with curl_free.
static char *value_of(const char *query, const char *name) {
  size_t length = strlen(name);
  for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
    if (strncmp(at, name, length) == 0 && at[length] == '=')
      return curl_easy_unescape(NULL, at + length + 1, (int)strcspn(at + length + 1, "&"), NULL);
  return NULL;
}

int peer_redirect(const char *url, const char *base, const char *state, const char *issuer) {
  char *query = NULL, *bare = NULL;
  CURLU *handle = curl_url();
  int good = curl_url_set(handle, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
             curl_url_get(handle, CURLUPART_QUERY, &query, 0) == CURLUE_OK &&
             curl_url_set(handle, CURLUPART_QUERY, NULL, 0) == CURLUE_OK &&
             curl_url_get(handle, CURLUPART_URL, &bare, 0) == CURLUE_OK && strcmp(bare, base) == 0;
  if (good) {
    char *code = value_of(query, "code"), *came = value_of(query, "state"), *from = value_of(query, "iss");
    good = code && came && from && strlen(came) == strlen(state) && CRYPTO_memcmp(came, state, strlen(state)) == 0 &&
           strcmp(from, issuer) == 0;
    curl_free(code);
    curl_free(came);
    curl_free(from);
  }
  curl_free(bare);
  curl_free(query);
  curl_url_cleanup(handle);
  return good;
}

struct peer_key {
  EVP_PKEY *key;
  EVP_MD_CTX *context;
  int is_ec;
};

static peer_key *made(const char *type, OSSL_PARAM_BLD *builder, int is_ec) {
  peer_key *result = calloc(1, sizeof *result);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_fromdata_init(context);
  EVP_PKEY_fromdata(context, &result->key, EVP_PKEY_PUBLIC_KEY, parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  result->context = EVP_MD_CTX_new();
  result->is_ec = is_ec;
  if (EVP_DigestVerifyInit_ex(result->context, NULL, "SHA2-256", NULL, NULL, result->key, NULL) != 1) abort();
  return result;
}

peer_key *peer_rsa_key(const uint8_t *modulus, size_t modulus_size, const uint8_t *exponent, size_t exponent_size) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, BN_bin2bn(modulus, (int)modulus_size, NULL));
  OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, BN_bin2bn(exponent, (int)exponent_size, NULL));
  return made("RSA", builder, 0);
}

peer_key *peer_p256_key(const uint8_t *x, const uint8_t *y) {
  uint8_t point[65] = {4};
  memcpy(point + 1, x, 32);
  memcpy(point + 33, y, 32);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
  OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point);
  return made("EC", builder, 1);
}

static int is_json(const uint8_t *text, size_t size, const char *member) {
  json_error_t error;
  json_t *json = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, &error);
  int found = json_string_value(json_object_get(json, member)) != NULL;
  json_decref(json);
  return found;
}

int peer_verify(peer_key *key, const uint8_t *token, size_t size) {
  uint8_t header[1024], claims[8192], signature[1024], der[128];
  const uint8_t *first = memchr(token, '.', size);
  const uint8_t *second = first ? memchr(first + 1, '.', size - (size_t)(first + 1 - token)) : NULL;
  if (!second || size > sizeof claims) return 0;
  long header_size = decode(token, (size_t)(first - token), header);
  long claims_size = decode(first + 1, (size_t)(second - first - 1), claims);
  long signature_size = decode(second + 1, size - (size_t)(second + 1 - token), signature);
  if (header_size < 0 || claims_size < 0 || signature_size < 0) return 0;
  if (!is_json(header, (size_t)header_size, "alg") || !is_json(claims, (size_t)claims_size, "iss")) return 0;
  const uint8_t *bytes = signature;
  if (key->is_ec) {
    ECDSA_SIG *pair = ECDSA_SIG_new();
    ECDSA_SIG_set0(pair, BN_bin2bn(signature, 32, NULL), BN_bin2bn(signature + 32, 32, NULL));
    uint8_t *end = der;
    signature_size = i2d_ECDSA_SIG(pair, &end);
    ECDSA_SIG_free(pair);
    bytes = der;
  }
  // The context is made once. This call only resets its state from an earlier message.
  if (EVP_DigestVerifyInit_ex(key->context, NULL, NULL, NULL, NULL, NULL, NULL) != 1) return 0;
  return EVP_DigestVerify(key->context, bytes, (size_t)signature_size, token, (size_t)(second - token)) == 1;
}

int peer_save(const char *folder, const uint8_t *bytes, size_t size) {
  int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int file = openat(directory, "peer.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int done = file >= 0 && write(file, bytes, size) == (ssize_t)size && fsync(file) == 0 &&
             renameat(directory, "peer.new", directory, "peer") == 0 && fsync(directory) == 0;
  close(file);
  close(directory);
  return done;
}

// These functions replace the C library's allocators: they count the calls, and call the allocators of the C library.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static size_t allocations;

size_t peer_allocations(void) { return allocations; }

void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  allocations++;
  return __libc_realloc(memory, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  allocations++;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12;
}
