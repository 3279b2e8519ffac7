// The declarations of libsecret and GLib that EnrollStore needs, so that a build needs neither the headers nor the
// libraries of these two. libsecret is opened at first use and not linked. The functions that dlsym finds (GLib's
// through libsecret, which depends on it) are in one struct. Both libraries keep these functions unchanged until they
// change their sonames.
#ifndef ENROLL_CSECRET_SHIM_H
#define ENROLL_CSECRET_SHIM_H
#include <string.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// GError and GList.
struct enroll_secret_error {
  uint32_t domain;
  int32_t code;
  char *message;
};
struct enroll_secret_list {
  void *data;
  struct enroll_secret_list *next, *previous;
};

// G_BUS_TYPE_SESSION.
static const int32_t enroll_secret_session_bus = 2;
// Values of SecretServiceFlags and SecretSearchFlags.
static const int32_t enroll_secret_open_session = 1 << 1;
static const int32_t enroll_secret_search_all = 1 << 1;
static const int32_t enroll_secret_load_secrets = 1 << 3;

#define ENROLL_SECRET_FUNCTIONS(each) \
  each(void *, g_hash_table_new, (unsigned (*hash)(const void *), int (*equal)(const void *, const void *))) \
  each(int, g_hash_table_insert, (void *table, void *key, void *value)) \
  each(void, g_hash_table_unref, (void *table)) \
  each(unsigned, g_str_hash, (const void *text)) \
  each(int, g_str_equal, (const void *left, const void *right)) \
  each(const char *, g_quark_to_string, (uint32_t quark)) \
  each(void, g_error_free, (struct enroll_secret_error * error)) \
  each(void, g_list_free, (struct enroll_secret_list * list)) \
  each(void, g_object_unref, (void *object)) \
  each(void *, g_cancellable_new, (void)) \
  each(void, g_cancellable_cancel, (void *cancellable)) \
  each(void *, g_bus_get_sync, (int32_t type, void *cancellable, struct enroll_secret_error **error)) \
  each(size_t, secret_service_get_type, (void)) \
  each(void *, secret_service_open_sync, \
       (size_t type, const char *bus_name, int32_t flags, void *cancellable, struct enroll_secret_error **error)) \
  each(struct enroll_secret_list *, secret_service_search_sync, \
       (void *service, const void *schema, void *attributes, int32_t flags, void *cancellable, \
        struct enroll_secret_error **error)) \
  each(int, secret_service_store_sync, \
       (void *service, const void *schema, void *attributes, const char *collection, const char *label, void *value, \
        void *cancellable, struct enroll_secret_error **error)) \
  each(int, secret_service_clear_sync, \
       (void *service, const void *schema, void *attributes, void *cancellable, struct enroll_secret_error **error)) \
  each(void *, secret_collection_for_alias_sync, \
       (void *service, const char *alias, int32_t flags, void *cancellable, struct enroll_secret_error **error)) \
  each(int, secret_collection_get_locked, (void *collection)) \
  each(int, secret_item_get_locked, (void *item)) \
  each(void *, secret_item_get_secret, (void *item)) \
  each(void *, secret_value_new, (const char *secret, ptrdiff_t size, const char *content_type)) \
  each(const char *, secret_value_get, (void *value, size_t *size)) \
  each(void, secret_value_unref, (void *value))

struct enroll_secret {
#define ENROLL_SECRET_FIELD(result, name, arguments) result (*_Nonnull name) arguments;
  ENROLL_SECRET_FUNCTIONS(ENROLL_SECRET_FIELD)
#undef ENROLL_SECRET_FIELD
};

// Whether an error only means that no answer came. Such errors are CANCELLED and TIMED_OUT of G_IO_ERROR, and NO_REPLY,
// TIMEOUT and TIMED_OUT of G_DBUS_ERROR.
static inline int enroll_secret_is_silence(
    const struct enroll_secret *_Nonnull functions, const struct enroll_secret_error *_Nonnull error) {
  const char *domain = functions->g_quark_to_string(error->domain);
  if (!domain) return 0;
  if (strcmp(domain, "g-io-error-quark") == 0) return error->code == 19 || error->code == 24;
  return strcmp(domain, "g-dbus-error-quark") == 0 && (error->code == 4 || error->code == 12 || error->code == 20);
}

// Opens the library by name; NULL on failure. The library is never closed, because GLib's threads may still run.
static inline void *enroll_secret_open(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Finds every function of the library. Returns the name of the first function that is missing; NULL if the library has
// all of them.
static inline const char *enroll_secret_bind(void *library, struct enroll_secret *functions) {
#define ENROLL_SECRET_BIND(result, name, arguments) \
  void *found_##name = dlsym(library, #name); \
  if (!found_##name) return #name; \
  functions->name = (result(*) arguments)found_##name;
  ENROLL_SECRET_FUNCTIONS(ENROLL_SECRET_BIND)
#undef ENROLL_SECRET_BIND
  return NULL;
}

// A hash table for texts. The caller keeps the texts alive.
static inline void *enroll_secret_new_table(const struct enroll_secret *functions) {
  return functions->g_hash_table_new(functions->g_str_hash, functions->g_str_equal);
}
#endif
