internal import CCurl

/// One request after another, on one handle, so that a connection that is still open serves the next. On the thread of its loop
/// only. The C type is `CURL`.
@safe final class CurlTransfer {
    enum Answer { case taken, full, enough }

    /// How a transfer went that was not cancelled.
    struct End {
        var code: CURLcode
        /// What libcurl says of it, in its own words.
        var text: String
        /// Of the last response; 0 where none came.
        var status: Int
        /// Of a proxy to which CONNECT was said.
        var proxyStatus: Int
        /// `errno` of the connection that failed.
        var systemCode: Int32
    }

    /// Told on the thread of the loop.
    protocol Receiver: AnyObject {
        func headerArrived(_ line: Span<UInt8>)
        func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer
        func transferEnded(_ end: End)
    }

    let easy: UnsafeMutableRawPointer
    private let multi: CurlMulti
    private weak var receiver: (any Receiver)?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// Whether a request is on its way.
    var isRunning = false

    /// The C function is `curl_easy_init`; nil without memory.
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

    func start(_ request: HTTPRequest) {
        cancel()
        unsafe curl.curl_easy_reset(easy)
        unsafe curl.curl_slist_free_all(headers)
        unsafe headers = nil
        for line in request.headers { unsafe headers = curl.curl_slist_append(headers, line) ?? headers }
        apply(request)
        isRunning = true
        multi.add(self)
    }

    /// Nothing more of it is told. Not from a callback of libcurl's.
    func cancel() {
        if !isRunning { return }
        isRunning = false
        multi.remove(self)
    }

    /// Goes on after it was answered that all is full. The C function is `curl_easy_pause`.
    func goOn() { if isRunning { _ = unsafe curl.curl_easy_pause(easy, CURLPAUSE_CONT) } }

    var status: Int { unsafe tenfour_curl_number(curl, easy, CURLINFO_RESPONSE_CODE) }

    func ended(_ code: CURLcode) {
        guard isRunning else { return }
        isRunning = false
        let said = unsafe message.pointee == 0 ? text(curl.curl_easy_strerror(code)) : text(message)
        receiver?.transferEnded(
            End(
                code: code, text: said, status: status,
                proxyStatus: unsafe tenfour_curl_number(curl, easy, CURLINFO_HTTP_CONNECTCODE),
                systemCode: Int32(truncatingIfNeeded: unsafe tenfour_curl_number(curl, easy, CURLINFO_OS_ERRNO))))
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    fileprivate func take(header line: UnsafeRawBufferPointer) {
        let bytes = unsafe line.bindMemory(to: UInt8.self)
        unsafe receiver?.headerArrived(bytes.span)
    }

    fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Answer { unsafe receiver?.bytesArrived(bytes) ?? .enough }
}

// MARK: Options

extension CurlTransfer {
    private func apply(_ request: HTTPRequest) {
        let options = request.options
        set(CURLOPT_URL, request.address)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // We follow redirects ourselves: libcurl would send all headers but two to another host, too.
        set(CURLOPT_FOLLOWLOCATION, 0)
        // HTTP/2 would send us 32 MB that nobody has asked for while we are paused; here the kernel holds the other side.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // Stations that never learned HTTP.
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HTTP200ALIASES, Self.otherGreetings)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, options.userAgent)
        set(CURLOPT_RANGE, request.range)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HTTPHEADER, headers)
        if let proxy = options.proxy {
            set(CURLOPT_PROXY, proxy)
            // Otherwise `no_proxy` in the environment would lead past what was asked for.
            set(CURLOPT_NOPROXY, "")
        }
        if let certificates = options.certificates { set(CURLOPT_CAINFO, certificates) }
        set(CURLOPT_CONNECTTIMEOUT_MS, options.timeoutMilliseconds)
        set(CURLOPT_BUFFERSIZE, Self.pieceByteCount)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // Signals are the program's; and a name server that keeps silent holds up nobody who has given up.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        unsafe message.pointee = 0
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_ERRORBUFFER, message)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe tenfour_curl_set_callback(curl, easy, CURLOPT_WRITEFUNCTION, takeBytes)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_WRITEDATA, owner)
        unsafe tenfour_curl_set_callback(curl, easy, CURLOPT_HEADERFUNCTION, takeHeader)
        unsafe tenfour_curl_set_pointer(curl, easy, CURLOPT_HEADERDATA, owner)
    }

    private static let pieceByteCount = 32 << 10

    /// For ever, as libcurl keeps no copy.
    private nonisolated(unsafe) static let otherGreetings = unsafe curl.curl_slist_append(nil, "ICY 200 OK")

    private func set(_ option: CURLoption, _ number: Int) { unsafe tenfour_curl_set_number(curl, easy, option, number) }

    private func set(_ option: CURLoption, _ text: String?) { unsafe tenfour_curl_set_text(curl, easy, option, text) }
}

@c private func takeBytes(
    _ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
    switch unsafe transfer.take(UnsafeRawBufferPointer(start: bytes, count: count)) {
    case .taken: return count
    case .full: return Int(CURL_WRITEFUNC_PAUSE)
    case .enough: return Int(CURL_WRITEFUNC_ERROR)
    }
}

@c private func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
    unsafe transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
}
