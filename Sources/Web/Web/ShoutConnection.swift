internal import CShout
internal import Glibc

/// A connection to a mount point of an Icecast server. No call waits, except for the look-up of the server's name. The
/// C type is `shout_t`.
@safe struct ShoutConnection: ~Copyable {
    private let handle: OpaquePointer

    /// The state of the connection after its last step.
    enum State: Equatable {
        case connecting, connected
        /// The connection has failed or was closed by the server; the number is libshout's error.
        case failed(Int32)
    }

    /// Whether a descriptor is free that libshout can use. libshout waits with select(2), which aborts the process for
    /// a descriptor of 1024 or more. Some below 1024 stay free for the files that other threads open meanwhile.
    static var hasDescriptor: Bool {
        let free = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        if free >= 0 { close(free) }
        return (0..<960).contains(free)
    }

    /// Begins to connect. Returns nil if libshout has no memory. The C functions are `shout_new` and `shout_open`.
    init?(_ settings: IcecastSettings) {
        guard let handle = unsafe shout.shout_new() else { return nil }
        unsafe self.handle = handle
        // Makes a write to a closed connection return an error instead of ending the process.
        _ = signal(SIGPIPE, SIG_IGN)
        _ = unsafe shout.shout_set_host(handle, settings.host)
        _ = unsafe shout.shout_set_port(handle, settings.port)
        _ = unsafe shout.shout_set_mount(handle, settings.mount)
        _ = unsafe shout.shout_set_user(handle, settings.user)
        _ = unsafe shout.shout_set_password(handle, settings.password)
        _ = unsafe shout.shout_set_agent(handle, "tenfour")
        _ = unsafe shout.shout_set_tls(handle, settings.usesTLS ? SHOUT_TLS_AUTO_NO_PLAIN : SHOUT_TLS_DISABLED)
        _ = unsafe shout.shout_set_public(handle, settings.isPublic ? 1 : 0)
        for (name, value) in [
            (SHOUT_META_NAME, settings.name), (SHOUT_META_DESCRIPTION, settings.description),
            (SHOUT_META_GENRE, settings.genre),
        ] where !value.isEmpty {
            _ = unsafe shout.shout_set_meta(handle, name, value)
        }
        _ = unsafe shout.shout_set_content_format(handle, UInt32(SHOUT_FORMAT_OGG), SHOUT_USAGE_AUDIO, nil)
        _ = unsafe shout.shout_set_nonblocking(handle, UInt32(SHOUT_BLOCKING_NONE))
        _ = unsafe shout.shout_open(handle)
    }

    /// The C functions are `shout_close` and `shout_free`.
    deinit {
        _ = unsafe shout.shout_close(handle)
        unsafe shout.shout_free(handle)
    }

    /// Continues to connect and to send what is queued. The C function is `shout_get_connected`.
    func step() -> State {
        switch unsafe shout.shout_get_connected(handle) {
        case SHOUTERR_CONNECTED: .connected
        case SHOUTERR_BUSY, SHOUTERR_RETRY: .connecting
        case let code: .failed(code)
        }
    }

    /// Queues bytes and sends what the server takes now. Returns false if the connection has failed. The C function is
    /// `shout_send_raw`.
    func send(_ bytes: [UInt8]) -> Bool { unsafe shout.shout_send_raw(handle, bytes, bytes.count) >= 0 }

    /// The number of bytes that the server has not taken yet. The C function is `shout_queuelen`.
    var queuedByteCount: Int { max(unsafe shout.shout_queuelen(handle), 0) }
}
