#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>

/* Swift cannot call variadic functions: one typed function for each kind of value that an option has. */

static inline CURLcode tenfour_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text; NULL takes the option back. */
static inline CURLcode tenfour_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl keeps the pointer: a list, or what a callback is given. */
static inline CURLcode tenfour_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
typedef size_t (*tenfour_curl_take)(char *bytes, size_t one, size_t count, void *owner);

static inline CURLcode tenfour_curl_set_callback(CURL *easy, CURLoption option, tenfour_curl_take value) {
    return curl_easy_setopt(easy, option, value);
}

static inline long tenfour_curl_number(CURL *easy, CURLINFO what) {
    long value = 0;
    return curl_easy_getinfo(easy, what, &value) == CURLE_OK ? value : 0;
}

/* Of libcurl's own, as long as the handle does nothing else; NULL where there is none. */
static inline const char *tenfour_curl_text(CURL *easy, CURLINFO what) {
    char *value = NULL;
    return curl_easy_getinfo(easy, what, &value) == CURLE_OK ? value : NULL;
}

static inline CURLMcode tenfour_curl_on_socket(CURLM *multi, curl_socket_callback callback, void *owner) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
}

static inline CURLMcode tenfour_curl_on_timer(CURLM *multi, curl_multi_timer_callback callback, void *owner) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code != CURLM_OK ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, owner);
}

/* The message holds a union, which would have to be read unsafely. Returns NULL when no more transfer has ended. */
static inline CURL *tenfour_curl_next_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return NULL;
}

#endif
