#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <sys/prctl.h>
#include <sys/types.h>

/* unistd.h hides it from those that do not define _GNU_SOURCE first, as Swift's Glibc does not. */
pid_t gettid(void);

/* Variadic, which Swift cannot call. */
static inline int clinux_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL); }

static inline int clinux_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL); }

#endif
