internal import CSDBus
internal import Glibc

/// A connection to a D-Bus message bus. The C functions are `sd_bus_open_system` and `sd_bus_close_unref`.
///
/// Needs libsystemd, which the first connection loads. Each call waits for its answer, at most until the deadline
/// passed to `init`. For one thread at a time. The calls allocate, so an audio thread makes them only before its audio
/// starts.
@safe public struct MessageBus: ~Copyable {
    private let bus: OpaquePointer
    private let deadline: ContinuousClock.Instant

    /// Connects to the bus, and waits until the bus has accepted the connection (`Hello`).
    ///
    /// - `address`: in D-Bus's form (`unix:path=/run/dbus/system_bus_socket`); nil for the system bus, which
    ///   `DBUS_SYSTEM_BUS_ADDRESS` may name.
    /// - `deadline`: the time limit for the connection and all later calls together.
    public init(address: String? = nil, until deadline: ContinuousClock.Instant) throws(BusError) {
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
        unsafe self.bus = bus
        self.deadline = deadline
    }

    deinit { _ = unsafe sdbus.sd_bus_close_unref(bus) }

    /// Calls a method and ignores the contents of its answer. Throws `.refused` if the service answers with an error.
    public func call(_ method: String, of object: BusObject, _ arguments: BusValue...) throws(BusError) {
        let answer = try ask(method, of: object, arguments)
        _ = unsafe sdbus.sd_bus_message_unref(answer)
    }

    /// Returns the value of a property (`org.freedesktop.DBus.Properties.Get`). Throws `.wrongAnswer` if it has no
    /// basic type.
    public func property(_ name: String, of object: BusObject) throws(BusError) -> BusValue {
        let properties = BusObject(
            service: object.service, path: object.path, interface: "org.freedesktop.DBus.Properties")
        let answer = try ask("Get", of: properties, [.text(object.interface), .text(name)])
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
        for argument in arguments {
            let code = unsafe append(argument, to: message)
            guard code >= 0 else { throw .failed(call: "sd_bus_message_append_basic", code: code) }
        }
        var error = unsafe sd_bus_error()
        defer { unsafe sdbus.sd_bus_error_free(&error) }
        var answer: OpaquePointer?
        let code = unsafe sdbus.sd_bus_call(bus, message, try microseconds(until: deadline), &error, &answer)
        if code >= 0, let answer = unsafe answer { return unsafe answer }
        throw unsafe BusError(error, code: code)
    }
}

// A value that cannot be copied has one owner at a time, so no two threads use the connection at the same time.
extension MessageBus: @unchecked Sendable {}

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

/// Appends an argument to a method call. Returns a negative errno if that fails, otherwise zero or a positive number.
private func append(_ value: BusValue, to message: OpaquePointer) -> Int32 {
    switch value {
    case .int32(var number): unsafe append("i", &number, to: message)
    case .uint32(var number): unsafe append("u", &number, to: message)
    case .int64(var number): unsafe append("x", &number, to: message)
    case .uint64(var number): unsafe append("t", &number, to: message)
    case .text(let text):
        unsafe text.withCString { unsafe sdbus.sd_bus_message_append_basic(message, code(of: "s"), $0) }
    }
}

private func append<Number: BitwiseCopyable>(
    _ type: Unicode.Scalar, _ number: inout Number, to message: OpaquePointer
) -> Int32 {
    unsafe sdbus.sd_bus_message_append_basic(message, code(of: type), &number)
}

/// Returns the number or text in an answer that consists of one variant; nil for any other answer.
private func basicValue(inVariantOf answer: OpaquePointer) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard unsafe sdbus.sd_bus_message_peek_type(answer, &type, &contents) > 0, type == code(of: "v"),
        let contents = unsafe contents,
        unsafe sdbus.sd_bus_message_enter_container(answer, type, contents) > 0
    else { return nil }
    switch unsafe String(cString: contents) {
    case "i": return unsafe read(Int32(0), "i", from: answer).map { .int32($0) }
    case "u": return unsafe read(UInt32(0), "u", from: answer).map { .uint32($0) }
    case "x": return unsafe read(Int64(0), "x", from: answer).map { .int64($0) }
    case "t": return unsafe read(UInt64(0), "t", from: answer).map { .uint64($0) }
    case "s":
        var text: UnsafePointer<CChar>?
        guard unsafe sdbus.sd_bus_message_read_basic(answer, code(of: "s"), &text) > 0 else { return nil }
        return unsafe text.map { .text(unsafe String(cString: $0)) }
    default: return nil
    }
}

private func read<Number: BitwiseCopyable>(
    _ start: Number, _ type: Unicode.Scalar, from answer: OpaquePointer
) -> Number? {
    var number = start
    return unsafe sdbus.sd_bus_message_read_basic(answer, code(of: type), &number) > 0 ? number : nil
}

private func code(of type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
