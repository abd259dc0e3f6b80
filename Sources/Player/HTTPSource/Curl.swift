internal import CCurl
internal import TenfourMediaSource

/// libcurl's functions. Nothing writes to this struct after `loadCurl`; the compiler cannot see that.
///
/// `try!` cannot fail after `loadCurl` has returned, and all code that uses libcurl calls `loadCurl` first.
nonisolated(unsafe) let curl = unsafe try! opened.get()

/// Loads libcurl on the first call, from any thread. Throws if it is not installed.
func loadCurl() throws(ByteSourceError) { _ = unsafe try opened.get() }

private nonisolated(unsafe) let opened = Result { () throws(ByteSourceError) in try openCurl("libcurl.so.4") }

/// Loads `file` and checks that its version is recent enough. The C functions are `dlopen`, `curl_version_info` and
/// `curl_global_init`.
func openCurl(_ file: String) throws(ByteSourceError) -> tenfour_curl {
    var failure: UnsafePointer<CChar>?
    let curl = unsafe tenfour_curl_open(file, &failure)
    if let failure = unsafe failure {
        throw .failed(
            "playing from the network needs libcurl, which cannot be loaded (\(unsafe String(cString: failure))): run `apt-get install \(curlPackage())`",
            kind: .libraryMissing)
    }
    // Refuses libcurl before 7.85: it has the same file name, but does not accept the permitted protocols as text.
    guard let info = unsafe curl.curl_version_info(CURLVERSION_FIRST), unsafe info.pointee.version_num >= 0x07_55_00
    else {
        throw .failed(
            "playing from the network needs libcurl 7.85 or later; install a newer version", kind: .libraryMissing)
    }
    guard curl.curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK else {
        throw .failed("libcurl cannot start; close other programs to free memory", kind: .resourcesExhausted)
    }
    return curl
}
