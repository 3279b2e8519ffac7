// Plain C functions that do the same work as the steps, written by hand with the same libraries. The bench compares the
// steps with these functions. Each function returns 1 for success, 0 for failure.
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H
#include <stddef.h>
#include <stdint.h>

// Two times in nanoseconds: the CPU time of this thread, which other work on the machine does not change, and the wall
// time.
int64_t peer_cpu(void);
int64_t peer_wall(void);

// Makes a PKCE pair: 32 random bytes, base64url, SHA-256 with the algorithm fetched once, base64url.
int peer_pkce(void);

// Reads a redirect with libcurl's URL parser; checks that it has this `base`, state and issuer; copies the code.
int peer_redirect(const char *url, const char *base, const char *state, const char *issuer);

// Verifies an id_token: base64url, jansson for header and claims, EVP_DigestVerify with a context that is made once.
typedef struct peer_key peer_key;
peer_key *peer_rsa_key(const uint8_t *modulus, size_t modulus_size, const uint8_t *exponent, size_t exponent_size);
peer_key *peer_p256_key(const uint8_t *x, const uint8_t *y);
int peer_verify(peer_key *key, const uint8_t *token, size_t size);

// Saves a file durably: write, fsync, rename, fsync of the folder.
int peer_save(const char *folder, const uint8_t *bytes, size_t size);

// The number of allocations of this process so far.
size_t peer_allocations(void);
#endif
