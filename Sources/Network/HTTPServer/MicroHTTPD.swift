internal import CMicroHTTPD

/// libmicrohttpd's functions. Nothing writes to this struct after `loadMicroHTTPD`; the compiler cannot see that.
///
/// `try!` cannot fail after `loadMicroHTTPD` has returned, and `HTTPServer` calls it first.
nonisolated(unsafe) let microHTTPD = unsafe try! opened.get()

/// Whether libmicrohttpd accepts a NUL in a header field, as it does before version 1.0. The C function is
/// `MHD_get_version`.
let microHTTPDAcceptsNUL =
    unsafe microHTTPD.MHD_get_version().map { unsafe String(cString: $0).hasPrefix("0.") } ?? true

/// Loads libmicrohttpd on the first call, from any thread. Throws if it is not installed.
func loadMicroHTTPD() throws(HTTPServerError) { _ = unsafe try opened.get() }

private nonisolated(unsafe) let opened = Result { () throws(HTTPServerError) in
    try openMicroHTTPD("libmicrohttpd.so.12")
}

/// Loads `file`. The C function is `dlopen`.
func openMicroHTTPD(_ file: String) throws(HTTPServerError) -> tenfour_microhttpd {
    var failure: UnsafePointer<CChar>?
    let library = unsafe tenfour_microhttpd_open(file, &failure)
    if let failure = unsafe failure { throw .libraryMissing(unsafe String(cString: failure)) }
    return library
}
