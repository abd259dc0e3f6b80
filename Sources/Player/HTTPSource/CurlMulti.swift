internal import CCurl
internal import TenfourAudioCore
internal import TenfourUV

/// All transfers of one event loop and the connections that they share. Use it only on the loop's thread. The C type is
/// `CURLM`.
@safe final class CurlMulti {
    private let multi: UnsafeMutableRawPointer
    private unowned let loop: EventLoop
    private var timer: LoopTimer?
    private var sockets: [Int32: ReadinessHandle] = [:]
    private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = unsafe [:]
    private var isClosed = false

    /// Creates the handle on `loop`. The C function is `curl_multi_init`.
    init(on loop: EventLoop) throws(NetworkError) {
        guard let multi = unsafe curl.curl_multi_init() else {
            throw NetworkError(.refused, function: "curl_multi_init", code: 0)
        }
        unsafe self.multi = multi
        self.loop = loop
        timer = try loop.makeTimer { [unowned self] in act(on: Self.timedOut, 0) }
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe tenfour_curl_on_socket(curl, multi, socketChanged, owner)
        unsafe tenfour_curl_on_timer(curl, multi, timerChanged, owner)
    }

    /// The value of `CURL_SOCKET_TIMEOUT`.
    private static let timedOut: Int32 = -1

    deinit { close() }

    /// Cancels all transfers without further callbacks. The C function is `curl_multi_cleanup`.
    func close() {
        if isClosed { return }
        isClosed = true
        for transfer in unsafe Array(transfers.values) { transfer.cancel() }
        _ = unsafe curl.curl_multi_cleanup(multi)
        timer?.close()
    }

    /// Starts a transfer. The C function is `curl_multi_add_handle`.
    func add(_ transfer: CurlTransfer) {
        if isClosed { return }
        unsafe transfers[transfer.easy] = transfer
        _ = unsafe curl.curl_multi_add_handle(multi, transfer.easy)
    }

    /// Removes a transfer, which gets no further callbacks. Must not be called from a libcurl callback. The C function
    /// is `curl_multi_remove_handle`.
    func remove(_ transfer: CurlTransfer) {
        guard unsafe transfers.removeValue(forKey: transfer.easy) != nil else { return }
        _ = unsafe curl.curl_multi_remove_handle(multi, transfer.easy)
    }

    /// Tells libcurl that `socket` is ready for `events`, or that a deadline has passed. The C function is
    /// `curl_multi_socket_action`.
    private func act(on socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = unsafe curl.curl_multi_socket_action(multi, socket, events, &running)
        reportFinished()
    }

    private func reportFinished() {
        var result = CURLE_OK
        while let easy = unsafe tenfour_curl_next_ended(curl, multi, &result) {
            guard let transfer = unsafe transfers.removeValue(forKey: easy) else { continue }
            _ = unsafe curl.curl_multi_remove_handle(multi, easy)
            transfer.finish(result)
        }
    }

    fileprivate func watch(_ socket: Int32, for what: Int32) {
        if what == CURL_POLL_REMOVE {
            // Stops watching the socket now, since libcurl may close it as soon as this callback returns.
            sockets.removeValue(forKey: socket)?.close()
            return
        }
        var readiness: Readiness = []
        if what & CURL_POLL_IN != 0 { readiness.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { readiness.insert(.writable) }
        do throws(NetworkError) {
            if sockets[socket] == nil {
                sockets[socket] = try loop.onReadiness(of: socket) { [unowned self] in socketBecameReady($0, socket) }
            }
            try sockets[socket]?.watch(for: readiness)
        } catch {
            // The error is ignored: the transfer then times out.
        }
    }

    private func socketBecameReady(_ readiness: Readiness, _ socket: Int32) {
        var events: Int32 = 0
        if readiness.contains(.readable) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { events |= CURL_CSELECT_ERR }
        act(on: socket, events)
    }

    fileprivate func arm(milliseconds: Int) {
        // Arms the timer again even if the new deadline equals the previous one, since libcurl expects another call.
        timer?.disarm()
        if milliseconds >= 0 { timer?.arm(at: loop.now + .milliseconds(milliseconds)) }
    }
}

@c private func socketChanged(
    _ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ what: Int32, _ owner: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    if let owner = unsafe owner {
        unsafe Unmanaged<CurlMulti>.fromOpaque(owner).takeUnretainedValue().watch(socket, for: what)
    }
    return 0
}

@c private func timerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
    if let owner = unsafe owner {
        unsafe Unmanaged<CurlMulti>.fromOpaque(owner).takeUnretainedValue().arm(milliseconds: milliseconds)
    }
    return 0
}
