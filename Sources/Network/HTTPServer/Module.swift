// An HTTP server for small answers and for live streams with many listeners, on the caller's event loop: no thread of its
// own. libmicrohttpd reads the requests and sends the whole answers. A live stream is written here: one `send` for each
// listener and period, from bytes that all listeners share.
//
// It answers GET and HEAD, decides nothing about paths, and reads no files.
