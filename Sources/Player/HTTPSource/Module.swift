// Fetches bytes over HTTP and HTTPS by libcurl: requests, responses, redirects, errors and retries. This module never
// interprets the bytes, and no other module calls libcurl.
