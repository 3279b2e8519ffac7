// What plain C needs for the same work, written by hand over the same libraries: what the steps are measured beside.
// 1 for done, 0 for not.
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H
#include <stddef.h>
#include <stdint.h>

// Nanoseconds: of this thread's own work, so that what else the machine does falls on nobody; and of the clock on the wall.
int64_t peer_cpu(void);
int64_t peer_wall(void);

// A PKCE pair: 32 random bytes, base64url, SHA-256 with the algorithm fetched once, base64url.
int peer_pkce(void);

// A redirect, read with libcurl's URL parser: is it `base`, of this state and issuer? Copies the code.
int peer_redirect(const char *url, const char *base, const char *state, const char *issuer);

// An id_token: base64url, jansson for header and claims, EVP_DigestVerify with a context that was made once.
typedef struct peer_key peer_key;
peer_key *peer_rsa_key(const uint8_t *modulus, size_t modulus_size, const uint8_t *exponent, size_t exponent_size);
peer_key *peer_p256_key(const uint8_t *x, const uint8_t *y);
int peer_verify(peer_key *key, const uint8_t *token, size_t size);

// write, fsync, rename, fsync of the folder.
int peer_save(const char *folder, const uint8_t *bytes, size_t size);

// Allocations of this process so far.
size_t peer_allocations(void);
#endif
