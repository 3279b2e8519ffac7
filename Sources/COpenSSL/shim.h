// OpenSSL's libcrypto, for EnrollCrypto only. Macros and variadics that Swift cannot import become functions here.
#ifndef ENROLL_COPENSSL_SHIM_H
#define ENROLL_COPENSSL_SHIM_H
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

static inline int enroll_evp_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
#endif
