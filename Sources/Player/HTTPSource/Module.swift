// Bytes over HTTP and HTTPS by libcurl, on a loop of the network's: all requests, answers and refusals, and when to ask again.
// This module never knows what the bytes mean; nor does any other say `curl_`.
