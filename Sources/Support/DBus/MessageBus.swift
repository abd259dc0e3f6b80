internal import CSDBus
internal import Glibc

/// A connection to a D-Bus message bus. The C functions are `sd_bus_open_system` and `sd_bus_close_unref`.
///
/// Needs libsystemd, which the first connection loads. Each call waits for its answer, within the limit passed to
/// `init`. For one thread at a time. The calls allocate, so an audio thread makes them only before its audio starts.
@safe public struct MessageBus: ~Copyable {
    private let bus: OpaquePointer
    private let limit: TimeLimit

    /// Durations, because with a field of the type `ContinuousClock.Instant` Swift 6.3 does not call `deinit` when
    /// another module releases the connection.
    private enum TimeLimit {
        /// The time after `origin`.
        case until(Duration)
        case perCall(Duration)

        static let origin = ContinuousClock.now

        var deadline: ContinuousClock.Instant {
            switch self {
            case .until(let duration): Self.origin + duration
            case .perCall(let duration): .now + duration
            }
        }
    }

    /// Connects to the bus, and waits until the bus has accepted the connection (`Hello`).
    ///
    /// - `address`: in D-Bus's form (`unix:path=/run/dbus/system_bus_socket`); nil for the system bus, which
    ///   `DBUS_SYSTEM_BUS_ADDRESS` may name.
    /// - `deadline`: the time limit for the connection and all later calls together.
    public init(address: String? = nil, until deadline: ContinuousClock.Instant) throws(BusError) {
        limit = .until(deadline - TimeLimit.origin)
        unsafe bus = try connectedBus(at: address, until: deadline)
    }

    /// Connects to the bus for longer use. `callLimit` is the time limit for the connection, and for each later call.
    public init(address: String? = nil, callLimit: Duration) throws(BusError) {
        limit = .perCall(callLimit)
        unsafe bus = try connectedBus(at: address, until: .now + callLimit)
    }

    /// The address of the session bus of the user who runs this program, from `DBUS_SESSION_BUS_ADDRESS`, or from
    /// `XDG_RUNTIME_DIR`; nil if there is none.
    public static var sessionAddress: String? {
        func variable(_ name: String) -> String? {
            let value = unsafe getenv(name).map { unsafe String(cString: $0) }
            return value?.isEmpty == false ? value : nil
        }
        if let address = variable("DBUS_SESSION_BUS_ADDRESS") { return address }
        guard let folder = variable("XDG_RUNTIME_DIR"), unsafe access("\(folder)/bus", F_OK) == 0 else { return nil }
        return "unix:path=\(folder)/bus"
    }

    deinit { _ = unsafe sdbus.sd_bus_close_unref(bus) }

    /// Calls a method and ignores the contents of its answer. Throws `.refused` if the service answers with an error.
    public func call(_ method: String, of object: BusObject, _ arguments: BusValue...) throws(BusError) {
        let answer = unsafe try ask(method, of: object, arguments)
        _ = unsafe sdbus.sd_bus_message_unref(answer)
    }

    /// Calls a method and returns the contents of its answer. Throws `.refused` if the service answers with an error,
    /// and `.wrongAnswer` if the answer has types that `BusValue` does not have.
    public func answer(
        to method: String, of object: BusObject, _ arguments: BusValue...
    ) throws(BusError) -> [BusValue] {
        let answer = unsafe try ask(method, of: object, arguments)
        defer { _ = unsafe sdbus.sd_bus_message_unref(answer) }
        guard let values = unsafe readValues(from: answer) else { throw .wrongAnswer }
        return values
    }

    /// Calls a method whose answer begins with a file descriptor (`h`). The caller must close it.
    public func descriptor(
        answering method: String, of object: BusObject, _ arguments: BusValue...
    ) throws(BusError) -> Int32 {
        let answer = unsafe try ask(method, of: object, arguments)
        defer { _ = unsafe sdbus.sd_bus_message_unref(answer) }
        var descriptor: Int32 = -1
        guard unsafe sdbus.sd_bus_message_read_basic(answer, CChar(UInt8(ascii: "h")), &descriptor) > 0 else {
            throw .wrongAnswer
        }
        // The message owns its descriptor and closes it.
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw .failed(call: "fcntl", code: -errno) }
        return own
    }

    /// Asks the bus for the signals that a match rule describes (D-Bus specification, "Match Rules"). `nextSignal`
    /// returns them. Signals to this connection alone come without a rule.
    public func addMatch(_ rule: String) throws(BusError) { try call("AddMatch", of: .bus, .text(rule)) }

    /// Returns the unique name of the connection that owns `name`; nil if none does.
    public func owner(of name: String) throws(BusError) -> String? {
        do throws(BusError) {
            guard case .text(let owner) = try answer(to: "GetNameOwner", of: .bus, .text(name)).first else {
                throw .wrongAnswer
            }
            return owner
        } catch .noService {
            return nil
        }
    }

    /// Returns the next signal that has arrived, or nil if there is none. Does not wait. Skips signals with arguments
    /// of types that `BusValue` does not have. Throws when the connection is lost.
    public func nextSignal() throws(BusError) -> BusSignal? {
        while true {
            let (message, isIdle) = unsafe try nextMessage()
            if isIdle { return nil }
            guard let message = unsafe message else { continue }
            defer { _ = unsafe sdbus.sd_bus_message_unref(message) }
            if let signal = unsafe BusSignal(message) { return signal }
        }
    }

    /// Answers the method calls that have arrived, at most `limit`, with what `answer` returns. Does not wait. Drops
    /// signals. Returns false if nothing more has arrived. Throws when the connection is lost.
    public func answerCalls(atMost limit: Int, _ answer: (BusCall) -> BusReply) throws(BusError) -> Bool {
        for _ in 0..<limit {
            let (message, isIdle) = unsafe try nextMessage()
            if isIdle { return false }
            guard let message = unsafe message else { continue }
            defer { _ = unsafe sdbus.sd_bus_message_unref(message) }
            if let call = unsafe BusCall(message) { try unsafe send(answer(call), to: message) }
        }
        return true
    }

    /// Sends a signal of the object at `path` to all who asked for it. Does not wait.
    public func emit(
        _ member: String, of interface: String, at path: String, _ arguments: [BusValue]
    ) throws(BusError) {
        var message: OpaquePointer?
        let made = unsafe sdbus.sd_bus_message_new_signal(bus, &message, path, interface, member)
        guard made >= 0, let message = unsafe message else {
            throw .failed(call: "sd_bus_message_new_signal", code: made)
        }
        defer { _ = unsafe sdbus.sd_bus_message_unref(message) }
        try unsafe append(arguments, to: message)
        try unsafe send(message)
    }

    /// The number of messages that the bus has not accepted yet.
    public var queuedCount: Int {
        var count: UInt64 = 0
        return unsafe sdbus.sd_bus_get_n_queued_write(bus, &count) >= 0 ? Int(clamping: count) : 0
    }

    /// Waits until the bus has sent something, `other` is readable, or `milliseconds` have passed; -1 is no limit. The
    /// C function is `poll`.
    public func wait(orFor other: Int32, atMost milliseconds: Int32) throws(BusError) {
        let events = unsafe sdbus.sd_bus_get_events(bus)
        guard events >= 0 else { throw .failed(call: "sd_bus_get_events", code: events) }
        var descriptors = [
            pollfd(fd: unsafe sdbus.sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&descriptors, 2, milliseconds)
    }

    /// Returns the value of a property (`org.freedesktop.DBus.Properties.Get`). Throws `.wrongAnswer` if it has no
    /// basic type.
    public func property(_ name: String, of object: BusObject) throws(BusError) -> BusValue {
        let properties = BusObject(
            service: object.service, path: object.path, interface: "org.freedesktop.DBus.Properties")
        let answer = unsafe try ask("Get", of: properties, [.text(object.interface), .text(name)])
        defer { _ = unsafe sdbus.sd_bus_message_unref(answer) }
        guard let value = unsafe basicValue(inVariantOf: answer) else { throw .wrongAnswer }
        return value
    }

    /// Sends a method call and waits for the answer, which the caller must release.
    private func ask(
        _ method: String, of object: BusObject, _ arguments: [BusValue]
    ) throws(BusError) -> OpaquePointer {
        var message: OpaquePointer?
        let made = unsafe sdbus.sd_bus_message_new_method_call(
            bus, &message, object.service, object.path, object.interface, method)
        guard made >= 0, let message = unsafe message else {
            throw .failed(call: "sd_bus_message_new_method_call", code: made)
        }
        defer { _ = unsafe sdbus.sd_bus_message_unref(message) }
        try unsafe append(arguments, to: message)
        var error = unsafe sd_bus_error()
        defer { unsafe sdbus.sd_bus_error_free(&error) }
        var answer: OpaquePointer?
        let code = unsafe sdbus.sd_bus_call(bus, message, try microseconds(until: limit.deadline), &error, &answer)
        if code >= 0, let answer = unsafe answer { return unsafe answer }
        throw unsafe BusError(error, code: code)
    }
}

extension MessageBus {
    /// Does what is to be done with the connection. Returns a message that has arrived, which the caller must release;
    /// nil if there was other work, or none (`isIdle`).
    private func nextMessage() throws(BusError) -> (OpaquePointer?, isIdle: Bool) {
        var message: OpaquePointer?
        let code = unsafe sdbus.sd_bus_process(bus, &message)
        guard code >= 0 else { throw .failed(call: "sd_bus_process", code: code) }
        return unsafe (message, code == 0)
    }

    private func send(_ reply: BusReply, to call: OpaquePointer) throws(BusError) {
        switch reply {
        case .values(let values):
            var message: OpaquePointer?
            let made = unsafe sdbus.sd_bus_message_new_method_return(call, &message)
            guard made >= 0, let message = unsafe message else {
                throw .failed(call: "sd_bus_message_new_method_return", code: made)
            }
            defer { _ = unsafe sdbus.sd_bus_message_unref(message) }
            try unsafe append(values, to: message)
            try unsafe send(message)
        case .error(let name, let text):
            let code = unsafe name.withCString { name in
                unsafe text.withCString { text in
                    var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                    return unsafe sdbus.sd_bus_reply_method_error(call, &error)
                }
            }
            guard code >= 0 else { throw .failed(call: "sd_bus_reply_method_error", code: code) }
        }
    }

    private func append(_ values: [BusValue], to message: OpaquePointer) throws(BusError) {
        for value in values {
            let code = unsafe TenfourDBus.append(value, to: message)
            guard code >= 0 else { throw .failed(call: "sd_bus_message_append", code: code) }
        }
    }

    private func send(_ message: OpaquePointer) throws(BusError) {
        let code = unsafe sdbus.sd_bus_send(bus, message, nil)
        guard code >= 0 else { throw .failed(call: "sd_bus_send", code: code) }
    }
}

// A value that cannot be copied has one owner at a time, so no two threads use the connection at the same time.
extension MessageBus: @unchecked Sendable {}

extension BusObject {
    /// The message bus itself.
    public static let bus = BusObject(
        service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
}

extension BusError {
    /// Creates the error from the code that `sd_bus_call` returned and the D-Bus error that it set.
    fileprivate init(_ error: sd_bus_error, code: Int32) {
        let name = unsafe error.name.map { unsafe String(cString: $0) } ?? ""
        let standard = "org.freedesktop.DBus.Error."
        switch name {
        case standard + "ServiceUnknown", standard + "NameHasNoOwner": self = .noService
        case _ where name.hasPrefix(standard + "Spawn."): self = .noService
        case standard + "NoReply", standard + "Timeout", standard + "TimedOut": self = .timedOut
        case _ where code == -ETIMEDOUT: self = .timedOut
        case "": self = .failed(call: "sd_bus_call", code: code)
        default: self = .refused(name: name, message: unsafe error.message.map { unsafe String(cString: $0) } ?? name)
        }
    }
}

/// Connects to the bus at `address`, nil for the system bus, and waits until it has answered Hello.
private func connectedBus(
    at address: String?, until deadline: ContinuousClock.Instant
) throws(BusError) -> OpaquePointer {
    try needSDBus()
    var bus: OpaquePointer?
    let code = unsafe address.map { unsafe openBus(&bus, at: $0) } ?? sdbus.sd_bus_open_system(&bus)
    guard code >= 0, let bus = unsafe bus else {
        if let bus = unsafe bus { _ = unsafe sdbus.sd_bus_close_unref(bus) }
        throw .noBus(code: code)
    }
    do throws(BusError) {
        // Waits here until the bus has answered Hello, since `sd_bus_call` would wait for this without a limit.
        try unsafe waitUntilReady(bus, until: deadline)
    } catch {
        _ = unsafe sdbus.sd_bus_close_unref(bus)
        throw error
    }
    return unsafe bus
}

private func waitUntilReady(_ bus: OpaquePointer, until deadline: ContinuousClock.Instant) throws(BusError) {
    while true {
        let ready = unsafe sdbus.sd_bus_is_ready(bus)
        guard ready >= 0 else { throw .noBus(code: ready) }
        if ready > 0 { return }
        let done = unsafe sdbus.sd_bus_process(bus, nil)
        guard done >= 0 else { throw .noBus(code: done) }
        if done > 0 { continue }
        let waited = unsafe sdbus.sd_bus_wait(bus, try microseconds(until: deadline))
        guard waited >= 0 || waited == -EINTR else { throw .noBus(code: waited) }
    }
}

/// Returns the time left until `deadline` in microseconds, at most an hour. Throws `.timedOut` if the deadline has
/// passed.
private func microseconds(until deadline: ContinuousClock.Instant) throws(BusError) -> UInt64 {
    let left = ContinuousClock.now.duration(to: deadline) / .microseconds(1)
    guard left >= 1 else { throw .timedOut }
    return UInt64(min(left, 3_600e6))
}

/// Connects to the bus at `address`, with the settings that `sd_bus_open_system` uses.
private func openBus(_ bus: inout OpaquePointer?, at address: String) -> Int32 {
    var code = unsafe sdbus.sd_bus_new(&bus)
    if code >= 0 { code = unsafe sdbus.sd_bus_set_address(bus, address) }
    if code >= 0 { code = unsafe sdbus.sd_bus_set_bus_client(bus, 1) }
    return code >= 0 ? unsafe sdbus.sd_bus_start(bus) : code
}
