#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>

/* tee(2), which Swift's Glibc module lacks as a Linux extension: copies from a pipe without consuming. */
ssize_t tee(int from, int to, size_t count, unsigned int flags);

/* adjtimex of <sys/timex.h>, which Swift's Glibc module leaves out: whether the clock was ever set by somebody who knows the
   time. Declared here, as that header would make a second home for `timespec`. */
struct timex;
int adjtimex(struct timex *);

/* unistd.h declares it for _GNU_SOURCE only, which Swift's Glibc does not define. */
pid_t gettid(void);

/* prctl is variadic, which Swift cannot call. */
static inline int clinux_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL); }

static inline int clinux_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL); }

/* The user of the process at the other end of a Unix socket; 0 if it is known. struct ucred is declared for _GNU_SOURCE only. */
static inline int clinux_peer_user(int socket, uid_t *user) {
    struct {
        pid_t process;
        uid_t user;
        gid_t group;
    } peer;
    socklen_t length = sizeof peer;
    int code = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    *user = peer.user;
    return code;
}

/* Waits until `descriptor` can be read, for at most `milliseconds`; 1 when it can. Swift may attribute `struct pollfd` to another C module
   that includes poll.h, and then refuses its members to a file that does not import that module. */
static inline int clinux_wait_readable(int descriptor, int milliseconds) {
    struct pollfd file = {.fd = descriptor, .events = POLLIN, .revents = 0};
    return poll(&file, 1, milliseconds);
}

/* Waits until one of `count` descriptors, at most 64, can be read, fails or is hung up, for at most `milliseconds`; -1 for no limit. Writes
   a state for each: 0 for nothing, 1 for bytes to read, 2 for a failure or a hang-up, 3 for both. */
static inline int clinux_wait_any(const int *descriptors, unsigned char *states, int count, int milliseconds) {
    struct pollfd files[64];
    if (count > 64) count = 64;
    for (int i = 0; i < count; i++) files[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN, .revents = 0};
    int ready = poll(files, (nfds_t)count, milliseconds);
    for (int i = 0; i < count; i++) {
        int events = ready > 0 ? files[i].revents : 0;
        states[i] = (unsigned char)((events & POLLIN ? 1 : 0) | (events & (POLLERR | POLLHUP | POLLNVAL) ? 2 : 0));
    }
    return ready;
}

/* Lets a child of posix_spawn have no descriptor from `first` on (glibc 2.34). spawn.h declares it for _GNU_SOURCE and others, which
   Swift's Glibc does not define. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

static inline int clinux_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

#endif
