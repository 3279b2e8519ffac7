// jansson, for EnrollJSON only. Macros that Swift cannot import become functions here.
#ifndef ENROLL_CJANSSON_SHIM_H
#define ENROLL_CJANSSON_SHIM_H
#include <jansson.h>

static inline int enroll_json_error_code(const json_error_t *error) { return (int)json_error_code(error); }
#endif
