internal import CNATS

/// One connection to a server, until it breaks. The C functions are `natsConnection_Connect` and `_Destroy`.
@safe struct NATSConnection: ~Copyable {
    private let connection: OpaquePointer
    private var subscriptions: [String: Subscription] = [:]
    private let received: @Sendable (NATSMessage) -> Void

    @safe private struct Subscription {
        let subscription: OpaquePointer

        func end() {
            _ = unsafe nats.natsSubscription_Unsubscribe(subscription)
            unsafe nats.natsSubscription_Destroy(subscription)
        }
    }

    /// Connects to a server. Blocks for up to `NATSOptions.patience`. `received` is called on a thread of libnats.
    init(
        _ options: borrowing NATSOptions, received: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSRefusal) {
        var connected: OpaquePointer?
        let status = unsafe nats.natsConnection_Connect(&connected, options.options)
        guard status == NATS_OK, let connection = unsafe connected else {
            throw NATSRefusal(reason: NATSOptions.text(of: status))
        }
        unsafe self.connection = connection
        self.received = received
    }

    deinit {
        for subscription in subscriptions.values { subscription.end() }
        unsafe nats.natsConnection_Close(connection)
        unsafe nats.natsConnection_Destroy(connection)
    }

    /// Whether messages can be sent.
    var isConnected: Bool { unsafe nats.natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }

    /// The reason of the last failure.
    var failure: String {
        var text: UnsafePointer<CChar>?
        let status = unsafe nats.natsConnection_GetLastError(connection, &text)
        if let text = unsafe text, unsafe text.pointee != 0 {
            return NATSOptions.withoutPlace(unsafe String(cString: text))
        }
        return status == NATS_OK ? "the server has closed the connection" : NATSOptions.text(of: status)
    }

    /// Sends a message. Returns false if that failed.
    func publish(_ message: NATSMessage) -> Bool {
        let status = unsafe message.bytes.withUnsafeBytes { bytes in
            unsafe nats.natsConnection_Publish(connection, message.subject, bytes.baseAddress, Int32(bytes.count))
        }
        return status == NATS_OK
    }

    /// Subscribes to `wanted`, and to nothing else.
    mutating func subscribe(to wanted: Set<String>) {
        for (subject, subscription) in subscriptions where !wanted.contains(subject) {
            subscription.end()
            subscriptions[subject] = nil
        }
        for subject in wanted where subscriptions[subject] == nil {
            let target = unsafe Unmanaged.passRetained(SubscriptionTarget(subject, received))
            var subscription: OpaquePointer?
            let status = unsafe nats.natsConnection_Subscribe(
                &subscription, connection, subject, messageArrived, target.toOpaque())
            guard status == NATS_OK, let subscription = unsafe subscription else {
                unsafe target.release()
                continue
            }
            unsafe _ = nats.natsSubscription_SetOnCompleteCB(subscription, subscriptionEnded, target.toOpaque())
            unsafe _ = nats.natsSubscription_SetPendingLimits(
                subscription, Int32(MessageQueue.mostMessages), Int32(MessageQueue.mostBytes))
            subscriptions[subject] = unsafe Subscription(subscription: subscription)
        }
    }
}

/// The reason why a server has not accepted the connection.
struct NATSRefusal: Error {
    var reason: String
}

/// The target of libnats's callbacks for one subscription. It is released when libnats has called the last of them.
private final class SubscriptionTarget: Sendable {
    let subject: String
    let received: @Sendable (NATSMessage) -> Void

    init(_ subject: String, _ received: @escaping @Sendable (NATSMessage) -> Void) {
        self.subject = subject
        self.received = received
    }
}

@c private func messageArrived(
    _: OpaquePointer?, _: OpaquePointer?, _ message: OpaquePointer?, _ target: UnsafeMutableRawPointer?
) {
    guard let message = unsafe message, let target = unsafe target else { return }
    let count = unsafe Int(nats.natsMsg_GetDataLength(message))
    let bytes = unsafe [UInt8](
        UnsafeRawBufferPointer(start: unsafe nats.natsMsg_GetData(message), count: max(count, 0)))
    unsafe nats.natsMsg_Destroy(message)
    let subscription = unsafe Unmanaged<SubscriptionTarget>.fromOpaque(target).takeUnretainedValue()
    subscription.received(NATSMessage(subject: subscription.subject, bytes: bytes))
}

@c private func subscriptionEnded(_ target: UnsafeMutableRawPointer?) {
    if let target = unsafe target { unsafe Unmanaged<SubscriptionTarget>.fromOpaque(target).release() }
}
