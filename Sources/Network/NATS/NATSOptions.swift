internal import CNATS
internal import Glibc

/// Options of a connection. The C functions are `natsOptions_Create`, `natsOptions_Set…` and `natsOptions_Destroy`.
@safe struct NATSOptions: ~Copyable {
    let options: OpaquePointer

    /// A server that does not answer for this many milliseconds is taken for gone.
    static let patience: Int64 = 2_000

    /// The options of a connection to `server`, one of those in `configuration`.
    init(_ configuration: NATSConfiguration, for server: String) throws(NATSError) {
        unsafe options = try Self.created(configuration, server)
    }

    private static func created(
        _ configuration: NATSConfiguration, _ server: String
    ) throws(NATSError) -> OpaquePointer {
        var created: OpaquePointer?
        _ = unsafe nats.natsOptions_Create(&created)
        guard let options = unsafe created else { throw .thread(ENOMEM) }
        do throws(NATSError) {
            unsafe try set(options, configuration, server)
        } catch {
            unsafe nats.natsOptions_Destroy(options)
            throw error
        }
        return unsafe options
    }

    deinit { unsafe nats.natsOptions_Destroy(options) }

    private static func set(
        _ options: OpaquePointer, _ configuration: NATSConfiguration, _ server: String
    ) throws(NATSError) {
        _ = unsafe nats.natsOptions_SetURL(options, server)
        _ = unsafe nats.natsOptions_SetName(options, "tenfour relay")
        // Sends each message at once: libnats would wait 1 ms for others.
        _ = unsafe nats.natsOptions_SetSendAsap(options, true)
        _ = unsafe nats.natsOptions_SetNoEcho(options, true)
        // One thread delivers the messages of all subscriptions, in their order.
        _ = unsafe nats.natsOptions_UseGlobalMessageDelivery(options, true)
        // `NATSClient` connects again itself, with growing pauses.
        _ = unsafe nats.natsOptions_SetAllowReconnect(options, false)
        _ = unsafe nats.natsOptions_SetTimeout(options, patience)
        _ = unsafe nats.natsOptions_SetPingInterval(options, patience / 2)
        _ = unsafe nats.natsOptions_SetMaxPingsOut(options, 2)
        _ = unsafe nats.natsOptions_SetWriteDeadline(options, patience)
        if configuration.usesTLS {
            _ = unsafe nats.natsOptions_SetSecure(options, true)
            // libnats promises to compare the certificate's host only if it is told the name; 3.4 does so without.
            _ = unsafe nats.natsOptions_SetExpectedHostname(options, NATSConfiguration.host(of: server))
        }
        if let file = configuration.authorities {
            try check(unsafe nats.natsOptions_LoadCATrustedCertificates(options, file), file)
        }
        if let (file, key) = configuration.certificate {
            try check(unsafe nats.natsOptions_LoadCertificatesChain(options, file, key), file)
        }
        switch configuration.credentials {
        case .user(let name, let password):
            _ = unsafe nats.natsOptions_SetUserInfo(options, name, password)
        case .file(let file):
            try check(unsafe nats.natsOptions_SetUserCredentialsFromFiles(options, file, nil), file)
        case nil: break
        }
    }

    private static func check(_ status: natsStatus, _ file: String) throws(NATSError) {
        if status == NATS_OK { return }
        throw .option(file: file, text(of: status))
    }

    /// Returns the error and its remedy. For a status without a sentence of ours, returns libnats's text and the details
    /// that it has recorded on this thread.
    static func text(of status: natsStatus) -> String {
        switch status {
        case NATS_NO_SERVER: return "nothing answers there; check the address, and that nats-server runs"
        case NATS_TIMEOUT: return "the server does not answer"
        case NATS_CONNECTION_AUTH_FAILED:
            return "the server refuses the login (Authorization Violation); check nats-credentials"
        default: break
        }
        let text = unsafe nats.natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "failed"
        guard let detail = unsafe nats.nats_GetLastError(nil) else { return text }
        let more = withoutPlace(unsafe String(cString: detail))
        return more.isEmpty || more == text ? text : "\(text): \(more)"
    }

    /// Removes the place in libnats's source, such as `(conn.c:2088): `, from the beginning of its text.
    static func withoutPlace(_ text: String) -> String {
        guard text.hasPrefix("("), let end = text.firstRange(of: "): ") else { return text }
        return String(text[end.upperBound...])
    }
}
