#ifndef CUV_SHIM_H
#define CUV_SHIM_H

#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

/* Swift's Glibc does not import sys/eventfd.h. */
static inline int tenfour_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* The CMSG_… macros are not imported into Swift.
 *
 * Takes one report from the error queue of a UDP socket that has IP_RECVERR or IPV6_RECVERR set (ip(7)).
 * Returns the errno that the network or the kernel reported and fills `destination` with the address that the
 * datagram was sent to; returns 0 when the queue is empty. `local` tells whether the kernel itself refused the
 * datagram, in which case the call that sent it has said so already. */
static inline int tenfour_next_error_report(int socket, struct sockaddr_storage *destination, int *local) {
    char control[512];
    struct msghdr message;
    memset(&message, 0, sizeof message);
    memset(destination, 0, sizeof *destination);
    message.msg_name = destination;
    message.msg_namelen = sizeof *destination;
    message.msg_control = control;
    message.msg_controllen = sizeof control;

    ssize_t count;
    do
        count = recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return 0;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        int v4 = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
        int v6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
        if (!v4 && !v6) continue;
        struct sock_extended_err report;
        memcpy(&report, CMSG_DATA(part), sizeof report);
        *local = report.ee_origin == SO_EE_ORIGIN_LOCAL;
        return report.ee_errno ? (int)report.ee_errno : EIO;
    }
    *local = 1;
    return EIO;
}

/* The C library declares struct mmsghdr and sendmmsg(2) for _GNU_SOURCE only, which Swift's Glibc does without, and libuv 1.44
 * sends one datagram a call. Returns how many of `count` datagrams, the first ones, were taken, or a negated errno when
 * the very first was refused. */
struct tenfour_mmsghdr {
    struct msghdr header;
    unsigned int byte_count;
};

static inline int tenfour_sendmmsg(int socket, struct tenfour_mmsghdr *messages, unsigned int count) {
    long sent = syscall(SYS_sendmmsg, socket, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? -errno : (int)sent;
}

/* BPF_STMT is not imported into Swift.
 *
 * Of the sockets that share a port by SO_REUSEPORT, lets the one that was bound first receive what is for none of those that
 * are connected. Returns 0 or a negated errno. */
static inline int tenfour_first_of_port_receives(int socket) {
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    int result = setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
    return result < 0 ? -errno : 0;
}

#endif
