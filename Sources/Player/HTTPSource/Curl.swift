internal import CCurl
internal import TenfourMediaSource

/// libcurl's functions. Nothing changes them, not those either that Swift cannot see.
///
/// `try!` cannot fail once `needCurl` has returned; whatever begins to use libcurl calls that first.
nonisolated(unsafe) let curl = unsafe try! opened.get()

/// Opens libcurl, the first time, whichever thread that is on. Throws where it is not on this machine.
func needCurl() throws(ByteSourceError) { _ = unsafe try opened.get() }

private nonisolated(unsafe) let opened = Result { () throws(ByteSourceError) in try openCurl("libcurl.so.4") }

/// The C functions are `dlopen`, `curl_version_info` and `curl_global_init`.
func openCurl(_ file: String) throws(ByteSourceError) -> tenfour_curl {
    var failure: UnsafePointer<CChar>?
    let curl = unsafe tenfour_curl_open(file, &failure)
    if let failure = unsafe failure {
        throw .failed(
            "what lies in the network is fetched by libcurl, which cannot be opened; apt-get install \(curlPackage()) (\(unsafe String(cString: failure)))"
        )
    }
    // The first that can be told in words which protocols a server may lead on to; its file was called the same long before.
    guard let info = unsafe curl.curl_version_info(CURLVERSION_FIRST), unsafe info.pointee.version_num >= 0x07_55_00
    else {
        throw .failed("what lies in the network is fetched by libcurl, which is older than 7.85 here; install a newer")
    }
    guard curl.curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK else {
        throw .failed("libcurl does not start; end other programs, as there is no memory left")
    }
    return curl
}
