// The declarations of libpq that EnrollGatewayStore uses. Because they are here, a build needs neither libpq's header
// nor the library. libpq is opened when a PostgreSQL database is configured, never linked; the functions found by dlsym
// live in one struct. libpq keeps these functions as they are until it changes its soname.
#ifndef ENROLL_CPOSTGRESQL_SHIM_H
#define ENROLL_CPOSTGRESQL_SHIM_H
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>

// libpq of PostgreSQL 9.2 and up, on Linux.
#define ENROLL_POSTGRESQL_LIBPQ "libpq.so.5"

// libpq's PGconn, PGresult and PGcancel.
struct pg_conn;
struct pg_result;

struct pg_cancel;

// PQconninfoOption: one keyword of a connection string.
struct enroll_postgresql_option {
  char *keyword, *environment, *compiled, *value, *label, *shown;
  int size;
};

// Values of ConnStatusType and ExecStatusType.
static const int enroll_postgresql_connected = 0;
static const int enroll_postgresql_command_ok = 1;
static const int enroll_postgresql_rows_ok = 2;
// The field codes PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY.
static const int enroll_postgresql_state = 'C';
static const int enroll_postgresql_message = 'M';

#define ENROLL_POSTGRESQL_FUNCTIONS(each) \
  each(int, PQlibVersion, (void)) \
  each(struct enroll_postgresql_option *, PQconninfoParse, (const char *text, char **error)) \
  each(void, PQconninfoFree, (struct enroll_postgresql_option * options)) \
  each(void, PQfreemem, (void *memory)) \
  each(struct pg_conn *, PQconnectdbParams, \
       (const char *const *keywords, const char *const *values, int expands_database)) \
  each(int, PQstatus, (const struct pg_conn *connection)) \
  each(void, PQfinish, (struct pg_conn * connection)) \
  each(char *, PQerrorMessage, (const struct pg_conn *connection)) \
  each(const char *, PQparameterStatus, (const struct pg_conn *connection, const char *name)) \
  each(int, PQsocket, (const struct pg_conn *connection)) \
  each(int, PQsendQuery, (struct pg_conn * connection, const char *sql)) \
  each(int, PQsendQueryParams, \
       (struct pg_conn * connection, const char *sql, int count, const unsigned *types, const char *const *values, \
        const int *sizes, const int *formats, int result_format)) \
  each(int, PQsendPrepare, \
       (struct pg_conn * connection, const char *name, const char *sql, int count, const unsigned *types)) \
  each(int, PQsendQueryPrepared, \
       (struct pg_conn * connection, const char *name, int count, const char *const *values, const int *sizes, \
        const int *formats, int result_format)) \
  each(int, PQconsumeInput, (struct pg_conn * connection)) \
  each(int, PQisBusy, (struct pg_conn * connection)) \
  each(struct pg_result *, PQgetResult, (struct pg_conn * connection)) \
  each(int, PQresultStatus, (const struct pg_result *result)) \
  each(char *, PQresultErrorField, (const struct pg_result *result, int field)) \
  each(int, PQntuples, (const struct pg_result *result)) \
  each(char *, PQcmdTuples, (struct pg_result * result)) \
  each(char *, PQgetvalue, (const struct pg_result *result, int row, int column)) \
  each(int, PQgetlength, (const struct pg_result *result, int row, int column)) \
  each(int, PQgetisnull, (const struct pg_result *result, int row, int column)) \
  each(struct pg_cancel *, PQgetCancel, (struct pg_conn * connection)) \
  each(int, PQcancel, (struct pg_cancel * cancel, char *error, int size)) \
  each(void, PQfreeCancel, (struct pg_cancel * cancel)) \
  each(void, PQclear, (struct pg_result * result)) \
  each(void *, PQsetNoticeReceiver, \
       (struct pg_conn * connection, void (*receiver)(void *, const struct pg_result *), void *argument))

struct enroll_postgresql {
#define ENROLL_POSTGRESQL_FIELD(result, name, arguments) result (*_Nonnull name) arguments;
  ENROLL_POSTGRESQL_FUNCTIONS(ENROLL_POSTGRESQL_FIELD)
#undef ENROLL_POSTGRESQL_FIELD
};

// Opens the library with this name, and never closes it. Returns NULL on failure.
static inline void *enroll_postgresql_open(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Finds every function of the library. Returns the name of the first function that is missing, or NULL.
static inline const char *enroll_postgresql_bind(void *library, struct enroll_postgresql *functions) {
#define ENROLL_POSTGRESQL_BIND(result, name, arguments) \
  void *found_##name = dlsym(library, #name); \
  if (!found_##name) return #name; \
  functions->name = (result(*) arguments)found_##name;
  ENROLL_POSTGRESQL_FUNCTIONS(ENROLL_POSTGRESQL_BIND)
#undef ENROLL_POSTGRESQL_BIND
  return NULL;
}

// Ignores the server's notices. By default libpq prints them to the standard error stream.
static inline void enroll_postgresql_ignore_notice(void *argument, const struct pg_result *result) {
  (void)argument;
  (void)result;
}
static inline void enroll_postgresql_silence(
    const struct enroll_postgresql *_Nonnull functions, struct pg_conn *_Nonnull connection) {
  functions->PQsetNoticeReceiver(connection, enroll_postgresql_ignore_notice, NULL);
}

// Waits until there is something to read. Returns 1; 0 if nothing came within `milliseconds`; or -1 with errno.
static inline int enroll_postgresql_wait(int fd, int milliseconds) {
  struct pollfd wanted = {.fd = fd, .events = POLLIN, .revents = 0};
  int found = poll(&wanted, 1, milliseconds);
  return found < 0 && errno == EINTR ? 0 : found;
}
#endif
