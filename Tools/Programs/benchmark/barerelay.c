/* The minimum that a relay must do: barerelay PORT STREAMS LISTENERS SINKPORT. Receives RTP, and sends each packet to the
 * LISTENERS of the stream that its SSRC names, by sendmmsg in batches of 64. No protocol, no members, no counts. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char **words) {
    if (count < 5) return 2;
    int streams = atoi(words[2]), listeners = atoi(words[3]);
    int socket_ = socket(AF_INET, SOCK_DGRAM, 0), size = 4 << 20, discover = IP_PMTUDISC_DO;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(socket_, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(socket_, (struct sockaddr *)&own, sizeof own)) return perror("barerelay: bind"), 1;

    static unsigned char packet[1500];
    struct iovec vector = {packet, 0};
    struct mmsghdr *messages = calloc(streams * listeners, sizeof *messages);
    struct sockaddr_in *addresses = calloc(streams * listeners, sizeof *addresses);
    for (int i = 0; i < streams * listeners; i++) {
        addresses[i] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons(atoi(words[4])), .sin_addr.s_addr = htonl(0x7F010000 + i)};
        messages[i].msg_hdr = (struct msghdr){.msg_name = &addresses[i], .msg_namelen = sizeof *addresses, .msg_iov = &vector, .msg_iovlen = 1};
    }
    fprintf(stderr, "ready\n");
    for (;;) {
        ssize_t length = recv(socket_, packet, sizeof packet, 0);
        if (length < 12) continue;
        uint32_t stream = (uint32_t)packet[8] << 24 | packet[9] << 16 | packet[10] << 8 | packet[11];
        if (stream >= (uint32_t)streams) continue;
        vector.iov_len = length;
        struct mmsghdr *first = messages + stream * listeners;
        for (int sent = 0; sent < listeners;) {
            int batch = listeners - sent < 64 ? listeners - sent : 64;
            int done = sendmmsg(socket_, first + sent, batch, 0);
            sent += done > 0 ? done : 1;
        }
    }
}
