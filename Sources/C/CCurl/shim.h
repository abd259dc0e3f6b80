#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

/* Disables curl's type-checking macros, which would hide that functions are called through a structure. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_CURL(F) \
    F(curl_easy_cleanup) \
    F(curl_easy_getinfo) \
    F(curl_easy_init) \
    F(curl_easy_pause) \
    F(curl_easy_reset) \
    F(curl_easy_setopt) \
    F(curl_easy_strerror) \
    F(curl_global_init) \
    F(curl_multi_add_handle) \
    F(curl_multi_cleanup) \
    F(curl_multi_info_read) \
    F(curl_multi_init) \
    F(curl_multi_remove_handle) \
    F(curl_multi_setopt) \
    F(curl_multi_socket_action) \
    F(curl_slist_append) \
    F(curl_slist_free_all) \
    F(curl_version_info)

TENFOUR_ON_DEMAND(tenfour_curl, TENFOUR_CURL)

/* Swift cannot call variadic functions, so there is one typed function per kind of option value. */

static inline CURLcode tenfour_curl_set_number(struct tenfour_curl curl, CURL *easy, CURLoption option, long value) {
    return curl.curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text; NULL resets the option. */
static inline CURLcode tenfour_curl_set_text(struct tenfour_curl curl, CURL *easy, CURLoption option, const char *value) {
    return curl.curl_easy_setopt(easy, option, value);
}

/* libcurl keeps the pointer: a list, or a callback's argument. */
static inline CURLcode tenfour_curl_set_pointer(struct tenfour_curl curl, CURL *easy, CURLoption option, void *value) {
    return curl.curl_easy_setopt(easy, option, value);
}

/* CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
typedef size_t (*tenfour_curl_take)(char *bytes, size_t one, size_t count, void *owner);

static inline CURLcode tenfour_curl_set_callback(
    struct tenfour_curl curl, CURL *easy, CURLoption option, tenfour_curl_take value) {
    return curl.curl_easy_setopt(easy, option, value);
}

static inline long tenfour_curl_number(struct tenfour_curl curl, CURL *easy, CURLINFO what) {
    long value = 0;
    return curl.curl_easy_getinfo(easy, what, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t tenfour_curl_offset(struct tenfour_curl curl, CURL *easy, CURLINFO what) {
    curl_off_t value = 0;
    return curl.curl_easy_getinfo(easy, what, &value) == CURLE_OK ? value : 0;
}

/* Returns text owned by libcurl, valid until the handle's next operation; NULL if there is none. */
static inline const char *tenfour_curl_text(struct tenfour_curl curl, CURL *easy, CURLINFO what) {
    char *value = NULL;
    return curl.curl_easy_getinfo(easy, what, &value) == CURLE_OK ? value : NULL;
}

static inline CURLMcode tenfour_curl_on_socket(
    struct tenfour_curl curl, CURLM *multi, curl_socket_callback callback, void *owner) {
    CURLMcode code = curl.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code != CURLM_OK ? code : curl.curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
}

static inline CURLMcode tenfour_curl_on_timer(
    struct tenfour_curl curl, CURLM *multi, curl_multi_timer_callback callback, void *owner) {
    CURLMcode code = curl.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code != CURLM_OK ? code : curl.curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
}

/* Reads the union in libcurl's message. Returns NULL if no further transfer has ended. */
static inline CURL *tenfour_curl_next_ended(struct tenfour_curl curl, CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl.curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return NULL;
}

#endif
