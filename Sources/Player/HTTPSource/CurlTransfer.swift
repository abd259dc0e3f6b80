internal import CCurl
internal import Glibc

/// Performs requests one after another on one handle, so that an open connection is reused. Use it only on the loop's
/// thread. The C type is `CURL`.
@safe final class CurlTransfer {
    enum WriteResult { case accepted, paused, aborted }

    /// The outcome of a transfer that was not cancelled.
    struct End {
        var code: CURLcode
        /// libcurl's own message about the outcome.
        var text: String
        /// The status code of the last response; 0 if there was none.
        var status: Int
        /// The status code of the proxy's answer to CONNECT; 0 if there was none.
        var proxyStatus: Int
        /// The `errno` of a connection that failed.
        var systemCode: Int32
    }

    /// Receives a transfer's callbacks, on the loop's thread.
    protocol Receiver: AnyObject {
        func headerArrived(_ line: Span<UInt8>)
        func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> WriteResult
        func transferEnded(_ end: End)
    }

    let easy: UnsafeMutableRawPointer
    private let multi: CurlMulti
    private weak var receiver: (any Receiver)?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// Whether a request is in progress.
    var isRunning = false

    /// Creates a handle for transfers on `multi`; nil if there is no memory. The C function is `curl_easy_init`.
    init?(on multi: CurlMulti, for receiver: any Receiver) {
        guard let easy = unsafe curl.curl_easy_init() else {
            unsafe message.deallocate()
            return nil
        }
        unsafe self.easy = easy
        self.multi = multi
        self.receiver = receiver
    }

    deinit {
        multi.remove(self)
        unsafe curl.curl_easy_cleanup(easy)
        unsafe curl.curl_slist_free_all(headers)
        unsafe message.deallocate()
    }

    func start(_ request: FetchRequest) {
        cancel()
        unsafe curl.curl_easy_reset(easy)
        unsafe curl.curl_slist_free_all(headers)
        unsafe headers = nil
        for line in request.headers { unsafe headers = curl.curl_slist_append(headers, line) ?? headers }
        apply(request)
        isRunning = true
        multi.add(self)
    }

    /// Cancels the request; no further callbacks follow. Must not be called from a libcurl callback.
    func cancel() {
        if !isRunning { return }
        isRunning = false
        multi.remove(self)
    }

    /// Resumes a transfer that returned `.paused`. The C function is `curl_easy_pause`.
    func unpause() { if isRunning { _ = unsafe curl.curl_easy_pause(easy, CURLPAUSE_CONT) } }

    var status: Int { unsafe tenfour_curl_number(curl, easy, CURLINFO_RESPONSE_CODE) }

    /// The largest number of bytes that the body so far may hold after decompression: a hundred times its bytes, of which
    /// libcurl has counted all but those of its buffer.
    var largestUnpackedByteCount: Int {
        let received = unsafe Int(tenfour_curl_offset(curl, easy, CURLINFO_SIZE_DOWNLOAD_T))
        // A minute of silence in WAV is compressed a thousandfold, so that the first 64 MiB are free.
        return max((max(received, 0) + Self.pieceByteCount) * Self.maximumExpansion, 1 << 26)
    }

    private static let maximumExpansion = 100

    func finish(_ code: CURLcode) {
        guard isRunning else { return }
        isRunning = false
        let errorText = unsafe message.pointee == 0 ? text(curl.curl_easy_strerror(code)) : text(message)
        receiver?.transferEnded(
            End(
                code: code, text: errorText, status: status,
                proxyStatus: unsafe tenfour_curl_number(curl, easy, CURLINFO_HTTP_CONNECTCODE),
                systemCode: Int32(truncatingIfNeeded: unsafe tenfour_curl_number(curl, easy, CURLINFO_OS_ERRNO))))
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    fileprivate func receive(header line: UnsafeRawBufferPointer) {
        let bytes = unsafe line.bindMemory(to: UInt8.self)
        unsafe receiver?.headerArrived(bytes.span)
    }

    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        unsafe receiver?.bytesArrived(bytes) ?? .aborted
    }
}

// MARK: Options

extension CurlTransfer {
    private func apply(_ request: FetchRequest) {
        let options = request.options
        set(CURLOPT_URL, request.address)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // Leaves redirects to `Redirect`, since libcurl would send all headers but two to the other host as well.
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Uses HTTP/1.1: while the transfer is paused, TCP flow control stops the server. With HTTP/2 the server may
        // send 32 MB during the pause.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // Accepts `ICY` in place of `HTTP`, as some radio stations send it.
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HTTP200ALIASES, Self.statusLineAliases)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Keeps the cookies of this handle in memory (RFC 6265): a redirect may set one that the next request to its host needs.
        set(CURLOPT_COOKIEFILE, "")
        // Asks for an uncompressed body, and decompresses one that comes compressed all the same.
        if request.decompresses { set(CURLOPT_ACCEPT_ENCODING, "identity") }
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_RANGE, request.range)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HTTPHEADER, headers)
        if let proxy = options.proxy {
            set(CURLOPT_PROXY, proxy)
            // Prevents `no_proxy` in the environment from bypassing the typed proxy.
            set(CURLOPT_NOPROXY, "")
        }
        let file = options.certificates ?? Self.certificates("SSL_CERT_FILE")
        let folder = options.certificates == nil ? Self.certificates("SSL_CERT_DIR") : nil
        if file != nil || folder != nil {
            // Unsets the built-in file and folder, since libcurl trusts the certificates of both.
            set(CURLOPT_CAINFO, file)
            set(CURLOPT_CAPATH, folder)
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, options.timeoutMilliseconds)
        set(CURLOPT_BUFFERSIZE, Self.pieceByteCount)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // Keeps libcurl from installing signal handlers, and a name server that does not answer from delaying the
        // program's end.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        unsafe message.pointee = 0
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_ERRORBUFFER, message)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe tenfour_curl_set_callback(curl, easy, CURLOPT_WRITEFUNCTION, receiveBytes)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_WRITEDATA, owner)
        unsafe tenfour_curl_set_callback(curl, easy, CURLOPT_HEADERFUNCTION, receiveHeader)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HEADERDATA, owner)
    }

    private static let pieceByteCount = 32 << 10

    /// The file or folder of certificates that the variable `name` holds; nil if it holds none.
    private static func certificates(_ name: String) -> String? {
        guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }

    /// The status lines accepted in place of `HTTP`. Never freed, since libcurl keeps no copy.
    private nonisolated(unsafe) static let statusLineAliases = unsafe curl.curl_slist_append(nil, "ICY 200 OK")

    private func set(_ option: CURLoption, _ number: Int) { unsafe tenfour_curl_set_number(curl, easy, option, number) }

    private func set(_ option: CURLoption, _ text: String?) { unsafe tenfour_curl_set_text(curl, easy, option, text) }
}

@c private func receiveBytes(
    _ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
    switch unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: count)) {
    case .accepted: return count
    case .paused: return Int(CURL_WRITEFUNC_PAUSE)
    case .aborted: return Int(CURL_WRITEFUNC_ERROR)
    }
}

@c private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
    unsafe transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
}
