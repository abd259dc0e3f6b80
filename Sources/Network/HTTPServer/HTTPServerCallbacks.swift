internal import CMicroHTTPD
internal import Glibc

// The functions that libmicrohttpd calls, on the thread of the loop, while `HTTPServer.run` or `close` is running.

/// The functions with the server that they call.
func callbacks(of server: HTTPServer) -> tenfour_microhttpd_callbacks {
    unsafe tenfour_microhttpd_callbacks(
        owner: Unmanaged.passUnretained(server).toOpaque(), request_ready: requestReady, target_read: targetRead,
        unescape: leaveEscaped, request_completed: requestCompleted, connection_changed: connectionChanged)
}

private func server(_ owner: UnsafeMutableRawPointer?) -> HTTPServer {
    unsafe Unmanaged<HTTPServer>.fromOpaque(owner!).takeUnretainedValue()
}

/// Returns our object for a connection, which the server holds.
private func connection(_ handle: OpaquePointer?) -> HTTPConnection? {
    guard let handle = unsafe handle, let context = unsafe tenfour_microhttpd_context(microHTTPD, handle) else {
        return nil
    }
    return unsafe Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue()
}

/// Decodes nothing: libmicrohttpd would end a path at an escaped NUL.
@c private func leaveEscaped(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    unsafe text.map { unsafe strlen($0) } ?? 0
}

@c private func targetRead(
    _: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    unsafe connection(handle)?.target = unsafe target.map { unsafe ReceivedTarget($0) } ?? ReceivedTarget()
    return nil
}

@c private func connectionChanged(
    _ owner: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let handle = unsafe handle, let context = unsafe context else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        unsafe context.pointee = server(owner).added(handle).map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    } else if let gone = unsafe context.pointee {
        unsafe context.pointee = nil
        unsafe server(owner).removed(Unmanaged<HTTPConnection>.fromOpaque(gone).takeUnretainedValue())
    }
}

@c private func requestCompleted(
    _ owner: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    if let connection = unsafe connection(handle) { unsafe server(owner).completed(connection) }
}

@c private func requestReady(
    _ owner: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _: UnsafeMutablePointer<Int>?, _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection = unsafe connection(handle), let handle = unsafe handle, let method = unsafe method,
        let version = unsafe version
    else { return MHD_Result.NO }
    let request = unsafe ReceivedRequest(handle: handle, method: method, version: version)
    return unsafe server(owner).ready(request, of: connection)
}

/// libmicrohttpd asks for the body of a stream's answer, once it has sent the header.
@c private func bodyRequested(
    _ owner: UnsafeMutableRawPointer?, _: UInt64, _: UnsafeMutablePointer<CChar>?, _: Int
) -> Int {
    let connection = unsafe Unmanaged<HTTPConnection>.fromOpaque(owner!).takeUnretainedValue()
    // MHD_CONTENT_READER_END_OF_STREAM, a macro with a cast.
    return connection.startListening() ? 0 : -1
}

extension HTTPAnswer {
    /// Gives the answer to libmicrohttpd. Without memory, libmicrohttpd closes the connection. The C function is
    /// `MHD_queue_response`.
    func queue(to connection: HTTPConnection, _ handle: OpaquePointer) -> MHD_Result {
        let response: OpaquePointer?
        switch body {
        case .whole(let bytes):
            unsafe response = bytes.withUnsafeBytes { bytes in
                unsafe microHTTPD.MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .stream(let stream):
            connection.willListen(to: stream)
            let owner = unsafe Unmanaged.passUnretained(connection).toOpaque()
            unsafe response = microHTTPD.MHD_create_response_from_callback(
                UInt64.max, 1, bodyRequested, owner, nil)
        }
        guard let response = unsafe response else { return MHD_Result.NO }
        defer { unsafe microHTTPD.MHD_destroy_response(response) }
        if case .stream = body { _ = unsafe tenfour_microhttpd_end_with_connection(microHTTPD, response) }
        for field in allFields { _ = unsafe microHTTPD.MHD_add_response_header(response, field.name, field.value) }
        return unsafe microHTTPD.MHD_queue_response(handle, UInt32(status), response)
    }
}
