/* getaddrinfo of a machine whose name server does not answer: a name that begins with `slow` takes half a minute and is then not found.
   Other names and addresses are looked up as usual. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    if (host && strncmp(host, "slow", 4) == 0) {
        sleep(30);
        return EAI_AGAIN;
    }
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, service, hints, found);
}
