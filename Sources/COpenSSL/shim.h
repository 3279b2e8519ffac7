// OpenSSL's declarations, for EnrollCrypto only. libcrypto itself is not linked, but opened at first use: its
// functions, which dlsym finds, are in one struct and are called through this struct. Macros that Swift cannot import
// become functions here.
#ifndef ENROLL_COPENSSL_SHIM_H
#define ENROLL_COPENSSL_SHIM_H
#include <dlfcn.h>
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
#include <string.h>

#include "../CPosix/libraries.h"

#define ENROLL_OPENSSL_FUNCTIONS(each) \
  each(BN_bin2bn) each(BN_bn2binpad) each(BN_free) each(BN_num_bits) \
  each(ECDSA_SIG_free) each(ECDSA_SIG_get0_r) each(ECDSA_SIG_get0_s) each(ECDSA_SIG_new) each(ECDSA_SIG_set0) \
  each(d2i_ECDSA_SIG) each(i2d_ECDSA_SIG) \
  each(ERR_clear_error) each(ERR_get_error) each(ERR_reason_error_string) \
  each(EVP_CIPHER_CTX_ctrl) each(EVP_CIPHER_CTX_free) each(EVP_CIPHER_CTX_new) each(EVP_CIPHER_fetch) \
  each(EVP_CIPHER_free) each(EVP_CipherInit_ex2) each(EVP_CipherUpdate) each(EVP_DecryptFinal_ex) \
  each(EVP_DecryptUpdate) each(EVP_EncryptFinal_ex) each(EVP_EncryptUpdate) \
  each(EVP_Digest) each(EVP_DigestFinal_ex) each(EVP_DigestInit_ex2) each(EVP_DigestUpdate) \
  each(EVP_DigestSign) each(EVP_DigestSignInit) each(EVP_DigestVerify) each(EVP_DigestVerifyInit) \
  each(EVP_MD_CTX_free) each(EVP_MD_CTX_new) each(EVP_MD_fetch) each(EVP_MD_free) \
  each(EVP_KDF_CTX_free) each(EVP_KDF_CTX_new) each(EVP_KDF_derive) each(EVP_KDF_fetch) each(EVP_KDF_free) \
  each(EVP_MAC_CTX_free) each(EVP_MAC_CTX_new) each(EVP_MAC_fetch) each(EVP_MAC_final) each(EVP_MAC_free) \
  each(EVP_MAC_init) each(EVP_MAC_update) each(EVP_PBE_scrypt) \
  each(EVP_PKEY_CTX_free) each(EVP_PKEY_CTX_new_from_name) each(EVP_PKEY_CTX_new_from_pkey) \
  each(EVP_PKEY_CTX_set_group_name) each(EVP_PKEY_CTX_set_rsa_keygen_bits) each(EVP_PKEY_CTX_set_rsa_padding) \
  each(EVP_PKEY_CTX_set_rsa_pss_saltlen) each(EVP_PKEY_free) each(EVP_PKEY_fromdata) each(EVP_PKEY_fromdata_init) \
  each(EVP_PKEY_generate) each(EVP_PKEY_get_bits) each(EVP_PKEY_get_bn_param) each(EVP_PKEY_get_raw_public_key) \
  each(EVP_PKEY_get0_type_name) each(EVP_PKEY_keygen_init) each(EVP_PKEY_new_raw_public_key_ex) \
  each(EVP_PKEY_public_check_quick) each(EVP_PKCS82PKEY) each(EVP_PKEY2PKCS8) each(PKCS8_PRIV_KEY_INFO_free) each(d2i_PKCS8_PRIV_KEY_INFO) \
  each(i2d_PKCS8_PRIV_KEY_INFO) \
  each(OPENSSL_init_crypto) each(OPENSSL_thread_stop) each(RAND_bytes) each(RAND_priv_bytes)

struct enroll_openssl {
#define ENROLL_OPENSSL_FIELD(name) __typeof__(&name) _Nonnull name;
  ENROLL_OPENSSL_FUNCTIONS(ENROLL_OPENSSL_FIELD)
#undef ENROLL_OPENSSL_FIELD
};

// Whether the key has this type. Compares names, because EVP_PKEY_is_a also returns 0 if it has too little memory for
// its search.
static inline int enroll_openssl_is_a(const struct enroll_openssl *_Nonnull functions, const EVP_PKEY *key, const char *type) {
  const char *name = functions->EVP_PKEY_get0_type_name(key);
  return name && strcmp(name, type) == 0;
}

#ifdef ENROLL_OPENSSL_STATIC
// With OPENSSL=static, libcrypto is part of this library: there is nothing to open.
static inline void *enroll_openssl_open(const char *name) { return (void *)name; }
static inline const char *enroll_openssl_open_error(void) { return NULL; }
#define ENROLL_OPENSSL_FIND(library, name) ((void *)&name)
#else
// Opens the library by name; NULL on failure. The library is never closed.
static inline void *enroll_openssl_open(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}
// Why the library could not be opened, in the loader's words; NULL if the loader gives no reason.
static inline const char *enroll_openssl_open_error(void) { return dlerror(); }
#define ENROLL_OPENSSL_FIND(library, name) dlsym(library, #name)
#endif

// Finds every function of the library. Returns the name of the first function that is missing; NULL if the library has
// all of them.
static inline const char *enroll_openssl_bind(void *library, struct enroll_openssl *functions) {
#define ENROLL_OPENSSL_BIND(name) \
  void *found_##name = ENROLL_OPENSSL_FIND(library, name); \
  if (!found_##name) return #name; \
  functions->name = (__typeof__(&name))found_##name;
  ENROLL_OPENSSL_FUNCTIONS(ENROLL_OPENSSL_BIND)
#undef ENROLL_OPENSSL_BIND
  return NULL;
}

// Call this before any other function of OpenSSL: this prevents OpenSSL from freeing memory at exit, while other
// threads may be using it. The call has no effect if the program has initialised OpenSSL before.
static inline void enroll_openssl_keep_at_exit(const struct enroll_openssl *_Nonnull functions) {
  functions->OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

// Whether a code of the error queue means a lack of memory.
static inline int enroll_openssl_is_memory(unsigned long code) { return ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE; }

// A cell contains a pointer, and threads share the cell. enroll_atomic_fill stores a value in an empty cell and returns
// 1; if the cell was filled before, it returns 0.
static inline void *_Nullable enroll_atomic_read(void *_Nullable *_Nonnull cell) { return __atomic_load_n(cell, __ATOMIC_ACQUIRE); }
static inline int enroll_atomic_fill(void *_Nullable *_Nonnull cell, void *_Nonnull value) {
  void *empty = NULL;
  return __atomic_compare_exchange_n(cell, &empty, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
// Takes the pointer out of the cell and leaves the cell empty.
static inline void *_Nullable enroll_atomic_take(void *_Nullable *_Nonnull cell) {
  return __atomic_exchange_n(cell, NULL, __ATOMIC_ACQ_REL);
}

static inline int enroll_evp_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int enroll_evp_key_pair(void) { return EVP_PKEY_KEYPAIR; }

// Zeroes memory in a way that compilers do not remove. Secrets need this even if libcrypto is not loaded.
static inline void enroll_wipe_memory(void *memory, size_t size) {
  if (size == 0) return;
  memset(memory, 0, size);
  // The compiler assumes that this statement reads the zeroes, so the compiler does not remove the code that writes
  // them. Not every system has explicit_bzero(3).
  __asm__ volatile("" : : "r"(memory) : "memory");
}
// Whether two blocks of memory have the same bytes. The duration does not depend on the bytes.
static inline int enroll_equal_memory(const void *left, const void *right, size_t size) {
  const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
  unsigned long difference = 0;
  for (; size >= sizeof difference; size -= sizeof difference, a += sizeof difference, b += sizeof difference) {
    unsigned long mine, other;
    memcpy(&mine, a, sizeof mine);
    memcpy(&other, b, sizeof other);
    difference |= mine ^ other;
    // Hides the intermediate result from the compiler, which could otherwise end the loop early.
    __asm__("" : "+r"(difference));
  }
  for (size_t index = 0; index < size; index++) {
    difference |= a[index] ^ b[index];
    __asm__("" : "+r"(difference));
  }
  return difference == 0;
}
#endif
