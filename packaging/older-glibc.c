/*
 * What the full command (libexec/enrollkit/enroll) asks of a newer glibc than a release promises: scripts/build-command links
 * it with this file. The functions stay inside the program; a machine's own glibc goes on with its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* glibc 2.32. libstdc++ reads it to save atomics; 0 says that other threads may run, which is true at any time. */
char __libc_single_threaded;

typedef struct search {
  ElfW(Addr) place;
  struct dl_find_object *found;
} search;

/* 1: the object of `place` with what unwinds it; -1: an object that nothing unwinds; 0: another one. */
static int look(struct dl_phdr_info *info, size_t size, void *given) {
  search *wanted = given;
  ElfW(Addr) start = 0, end = 0, frames = 0;
  (void)size;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    ElfW(Addr) from = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = from;
    if (part->p_type == PT_LOAD && wanted->place - from < part->p_memsz) {
      start = from;
      end = from + part->p_memsz;
    }
  }
  if (end == 0) return 0;
  *wanted->found = (struct dl_find_object){
      .dlfo_map_start = (void *)start, .dlfo_map_end = (void *)end, .dlfo_eh_frame = (void *)frames};
  return frames == 0 ? -1 : 1;
}

/* glibc 2.35. libgcc's unwinder asks it which object an address is in. */
int _dl_find_object(void *place, struct dl_find_object *found) {
  search wanted = {(ElfW(Addr))place, found};
  return dl_iterate_phdr(look, &wanted) == 1 ? 0 : -1;
}
