internal import CSDBus
internal import Glibc

// The contents of messages as values.

/// Appends an argument to a method call. Returns a negative errno if that fails, otherwise zero or a positive number.
func append(_ value: BusValue, to message: OpaquePointer) -> Int32 {
    switch value {
    case .bool(let isTrue):
        // The C library reads a Boolean from an `int`.
        var number: Int32 = isTrue ? 1 : 0
        return unsafe append("b", &number, to: message)
    case .uint16(var number): return unsafe append("q", &number, to: message)
    case .int32(var number): return unsafe append("i", &number, to: message)
    case .uint32(var number): return unsafe append("u", &number, to: message)
    case .int64(var number): return unsafe append("x", &number, to: message)
    case .uint64(var number): return unsafe append("t", &number, to: message)
    case .double(var number): return unsafe append("d", &number, to: message)
    case .text(let text): return unsafe append("s", text, to: message)
    case .objectPath(let path): return unsafe append("o", path, to: message)
    case .byteStrings(let strings): return unsafe append(strings, to: message)
    case .texts(let texts):
        return unsafe appendContainer("a", of: "s", to: message) {
            appendEach(texts) { unsafe append("s", $0, to: message) }
        }
    case .variant(let value):
        return unsafe appendContainer("v", of: signature(of: value), to: message) { unsafe append(value, to: message) }
    case .properties(let values):
        return unsafe appendContainer("a", of: "{sv}", to: message) {
            appendEach(values.sorted { $0.key < $1.key }) { name, value in
                unsafe appendContainer("e", of: "sv", to: message) {
                    let result = unsafe append("s", name, to: message)
                    return result >= 0 ? unsafe append(.variant(value), to: message) : result
                }
            }
        }
    }
}

/// Returns the type of a value in D-Bus's notation.
private func signature(of value: BusValue) -> String {
    switch value {
    case .bool: "b"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .text: "s"
    case .objectPath: "o"
    case .byteStrings: "aay"
    case .texts: "as"
    case .variant: "v"
    case .properties: "a{sv}"
    }
}

/// Appends a container, whose contents `body` appends.
private func appendContainer(
    _ type: Unicode.Scalar, of contents: String, to message: OpaquePointer, _ body: () -> Int32
) -> Int32 {
    var result = unsafe sdbus.sd_bus_message_open_container(message, code(of: type), contents)
    if result >= 0 { result = body() }
    return result >= 0 ? unsafe sdbus.sd_bus_message_close_container(message) : result
}

/// Calls `append` for each element until it fails.
private func appendEach<Elements: Sequence>(_ elements: Elements, _ append: (Elements.Element) -> Int32) -> Int32 {
    for element in elements {
        let result = append(element)
        if result < 0 { return result }
    }
    return 0
}

private func append<Number: BitwiseCopyable>(
    _ type: Unicode.Scalar, _ number: inout Number, to message: OpaquePointer
) -> Int32 {
    unsafe sdbus.sd_bus_message_append_basic(message, code(of: type), &number)
}

private func append(_ type: Unicode.Scalar, _ text: String, to message: OpaquePointer) -> Int32 {
    unsafe text.withCString { unsafe sdbus.sd_bus_message_append_basic(message, code(of: type), $0) }
}

private func append(_ strings: [[UInt8]], to message: OpaquePointer) -> Int32 {
    var result = unsafe sdbus.sd_bus_message_open_container(message, code(of: "a"), "ay")
    for string in strings where result >= 0 {
        result = unsafe string.withUnsafeBufferPointer {
            unsafe sdbus.sd_bus_message_append_array(message, code(of: "y"), $0.baseAddress, $0.count)
        }
    }
    return result >= 0 ? unsafe sdbus.sd_bus_message_close_container(message) : result
}

/// Returns the number or text in an answer that consists of one variant; nil for any other answer.
func basicValue(inVariantOf answer: OpaquePointer) -> BusValue? {
    guard let (type, contents) = unsafe nextType(of: answer), type == code(of: "v"),
        unsafe contents.withCString({ unsafe sdbus.sd_bus_message_enter_container(answer, type, $0) }) > 0
    else { return nil }
    return unsafe nextValue(of: answer)
}

/// Returns all values of a message; nil if one of them has a type that `BusValue` does not have.
func readValues(from message: OpaquePointer) -> [BusValue]? {
    var values: [BusValue] = []
    while unsafe nextType(of: message) != nil {
        guard let value = unsafe nextValue(of: message) else { return nil }
        values.append(value)
    }
    return values
}

extension BusSignal {
    /// Reads a signal; nil if the message is no signal, or contains types that `BusValue` does not have.
    init?(_ message: OpaquePointer) {
        guard unsafe sdbus.sd_bus_message_is_signal(message, nil, nil) > 0,
            let path = unsafe sdbus.sd_bus_message_get_path(message),
            let interface = unsafe sdbus.sd_bus_message_get_interface(message),
            let member = unsafe sdbus.sd_bus_message_get_member(message),
            let sender = unsafe sdbus.sd_bus_message_get_sender(message),
            let arguments = unsafe readValues(from: message)
        else { return nil }
        self.init(
            sender: unsafe String(cString: sender), path: unsafe String(cString: path),
            interface: unsafe String(cString: interface), member: unsafe String(cString: member), arguments: arguments)
    }
}

/// Returns the type of the next value of a message, and the types in it if it is a container; nil at the end.
private func nextType(of message: OpaquePointer) -> (CChar, String)? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard unsafe sdbus.sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
    return (type, unsafe contents.map { unsafe String(cString: $0) } ?? "")
}

private func nextValue(of message: OpaquePointer) -> BusValue? {
    guard let (type, contents) = unsafe nextType(of: message) else { return nil }
    switch Unicode.Scalar(UInt8(bitPattern: type)) {
    case "b": return unsafe read(Int32(0), "b", from: message).map { .bool($0 != 0) }
    case "q": return unsafe read(UInt16(0), "q", from: message).map { .uint16($0) }
    case "i": return unsafe read(Int32(0), "i", from: message).map { .int32($0) }
    case "u": return unsafe read(UInt32(0), "u", from: message).map { .uint32($0) }
    case "x": return unsafe read(Int64(0), "x", from: message).map { .int64($0) }
    case "t": return unsafe read(UInt64(0), "t", from: message).map { .uint64($0) }
    case "d": return unsafe read(Double(0), "d", from: message).map { .double($0) }
    case "s": return unsafe readText("s", from: message).map { .text($0) }
    case "o": return unsafe readText("o", from: message).map { .objectPath($0) }
    // A variant in a variant is not read, so the depth is bounded.
    case "v" where contents != "v": return unsafe readVariant(contents, from: message).map { .variant($0) }
    case "a" where contents == "ay": return unsafe readByteStrings(from: message).map { .byteStrings($0) }
    default: return nil
    }
}

private func readVariant(_ contents: String, from message: OpaquePointer) -> BusValue? {
    guard unsafe sdbus.sd_bus_message_enter_container(message, code(of: "v"), contents) > 0,
        let value = unsafe nextValue(of: message)
    else { return nil }
    return unsafe sdbus.sd_bus_message_exit_container(message) >= 0 ? value : nil
}

private func read<Number: BitwiseCopyable>(
    _ start: Number, _ type: Unicode.Scalar, from message: OpaquePointer
) -> Number? {
    var number = start
    return unsafe sdbus.sd_bus_message_read_basic(message, code(of: type), &number) > 0 ? number : nil
}

private func readText(_ type: Unicode.Scalar, from message: OpaquePointer) -> String? {
    var text: UnsafePointer<CChar>?
    guard unsafe sdbus.sd_bus_message_read_basic(message, code(of: type), &text) > 0 else { return nil }
    guard let text = unsafe text, unsafe strnlen(text, longestText + 1) <= longestText else { return nil }
    return unsafe String(cString: text)
}

/// The longest text that is read from a message, in bytes.
private let longestText = 65_536

private func readByteStrings(from message: OpaquePointer) -> [[UInt8]]? {
    guard unsafe sdbus.sd_bus_message_enter_container(message, code(of: "a"), "ay") > 0 else { return nil }
    var strings: [[UInt8]] = []
    while true {
        var bytes: UnsafeRawPointer?
        var count = 0
        let result = unsafe sdbus.sd_bus_message_read_array(message, code(of: "y"), &bytes, &count)
        guard result >= 0 else { return nil }
        if result == 0 { break }
        strings.append(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    }
    return unsafe sdbus.sd_bus_message_exit_container(message) >= 0 ? strings : nil
}

private func code(of type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
