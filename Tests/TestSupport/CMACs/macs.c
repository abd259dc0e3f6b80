// Counts libsodium's MAC and X25519 computations, for each thread. A function that the program defines replaces the library's
// function for all code linked to the program.
#define _GNU_SOURCE
#include "macs.h"

#include <dlfcn.h>
#include <stddef.h>

typedef int init(void *, const unsigned char *, size_t);
typedef int update(void *, const unsigned char *, unsigned long long);
typedef int hash(unsigned char *, const unsigned char *, unsigned long long, const unsigned char *);

typedef int multiply(unsigned char *, const unsigned char *, const unsigned char *);
typedef int multiply_base(unsigned char *, const unsigned char *);

static init *hmac_init;
static update *hmac_update;
static hash *siphash, *siphashx;
static multiply *scalarmult;
static multiply_base *scalarmult_base;
static __thread struct macs count;

struct macs macs_of_this_thread(void) { return count; }

__attribute__((constructor)) static void find(void) {
    hmac_init = (init *)dlsym(RTLD_NEXT, "crypto_auth_hmacsha256_init");
    hmac_update = (update *)dlsym(RTLD_NEXT, "crypto_auth_hmacsha256_update");
    siphash = (hash *)dlsym(RTLD_NEXT, "crypto_shorthash_siphash24");
    siphashx = (hash *)dlsym(RTLD_NEXT, "crypto_shorthash_siphashx24");
    scalarmult = (multiply *)dlsym(RTLD_NEXT, "crypto_scalarmult");
    scalarmult_base = (multiply_base *)dlsym(RTLD_NEXT, "crypto_scalarmult_base");
}

int crypto_auth_hmacsha256_init(void *state, const unsigned char *key, size_t size) {
    count.hmacs++, count.hmac_bytes += size;
    return hmac_init(state, key, size);
}

int crypto_auth_hmacsha256_update(void *state, const unsigned char *bytes, unsigned long long size) {
    count.hmac_bytes += size;
    return hmac_update(state, bytes, size);
}

int crypto_shorthash_siphash24(
    unsigned char *out, const unsigned char *bytes, unsigned long long size, const unsigned char *key) {
    count.siphashes++;
    return siphash(out, bytes, size, key);
}

int crypto_shorthash_siphashx24(
    unsigned char *out, const unsigned char *bytes, unsigned long long size, const unsigned char *key) {
    count.siphashes++;
    return siphashx(out, bytes, size, key);
}

int crypto_scalarmult(unsigned char *out, const unsigned char *secret, const unsigned char *point) {
    count.multiplications++;
    return scalarmult(out, secret, point);
}

int crypto_scalarmult_base(unsigned char *out, const unsigned char *secret) {
    count.multiplications++;
    return scalarmult_base(out, secret);
}
