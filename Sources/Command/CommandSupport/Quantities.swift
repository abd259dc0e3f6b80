public import ArgumentParser
public import TenfourRadio

/// A duration such as `20ms`, `1.5s`, `2500us`, `5m`, `1h30m`, `1:23`, `1:02:03.5`. A number without a unit is in
/// `Unit`.
public struct Time<Unit: BareUnit>: ExpressibleByArgument {
    public var duration: Duration

    public init(_ duration: Duration) { self.duration = duration }

    public init?(argument: String) {
        if argument.contains(":") {
            guard let seconds = Self.seconds(argument) else { return nil }
            duration = .seconds(seconds)
            return
        }
        let bare = Double(argument).map { $0 * Unit.microseconds }
        guard let time = bare ?? Self.microseconds(argument), time >= 0, time < 1e15 else { return nil }
        duration = .microseconds(time)
    }

    /// Parses numbers with units, larger units first, such as `1h30m` or `20ms`. Returns nil for any other text.
    private static func microseconds(_ text: String) -> Double? {
        guard !text.isEmpty else { return nil }
        var rest = Substring(text)
        var (sum, smallest) = (0.0, Double.infinity)
        while !rest.isEmpty {
            let number = rest.prefix { $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !$0.isNumber && $0 != "." }
            rest = rest.dropFirst(unit.count)
            guard let count = Double(number), let length = microsecondsOfUnits[String(unit)], length < smallest else {
                return nil
            }
            sum += count * length
            smallest = length
        }
        return sum
    }

    /// Parses minutes and seconds, with optional hours, as in `1:02:03`.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let last = Double(parts[parts.count - 1]), last >= 0, last < 60
        else { return nil }
        var minutes = 0
        for (index, part) in parts.dropLast().enumerated() {
            guard let number = UInt16(part), index == 0 || number < 60 else { return nil }
            minutes = minutes * 60 + Int(number)
        }
        return Double(minutes * 60) + last
    }

    public var defaultValueDescription: String {
        duration >= .seconds(1) ? decimal(duration / .seconds(1), places: 1, trimming: true) + " s" : text(of: duration)
    }
}

public protocol BareUnit { static var microseconds: Double { get } }
public enum BareMicroseconds: BareUnit { public static var microseconds: Double { 1 } }
public enum BareMilliseconds: BareUnit { public static var microseconds: Double { 1_000 } }
public enum BareSeconds: BareUnit { public static var microseconds: Double { 1_000_000 } }

/// Formats a duration as `20 ms` or `2.5 ms`.
public func text(of duration: Duration) -> String {
    decimal(duration / .milliseconds(1), places: 1, trimming: true) + " ms"
}

/// The length of each unit in microseconds. Unicode has two characters for µ.
private let microsecondsOfUnits: [String: Double] = [
    "us": 1, "\u{B5}s": 1, "\u{3BC}s": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "min": 60e6, "h": 3_600e6,
]

/// A bit rate such as `32k`. A number without a unit is in kbit/s up to 1 000, as in opusenc, and in bit/s above, as in
/// ffmpeg.
public struct BitRate: ExpressibleByArgument {
    public var bitsPerSecond: Int

    public init(_ bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }

    public init?(argument: String) {
        let isInThousands = argument.hasSuffix("k") || argument.hasSuffix("K")
        guard let value = Double(isInThousands ? argument.dropLast() : Substring(argument)) else { return nil }
        let bits = isInThousands || value <= 1_000 ? value * 1_000 : value
        guard bits >= 6_000, bits <= 510_000 else { return nil }
        bitsPerSecond = Int(bits)
    }

    public var defaultValueDescription: String { "\(bitsPerSecond / 1_000)k" }
}

/// The playout delay of the jitter buffer: `auto`, or fixed.
public enum Jitter: ExpressibleByArgument {
    case auto
    case fixed(Duration)

    public init?(argument: String) {
        if argument == "auto" {
            self = .auto
        } else if let time = Time<BareMilliseconds>(argument: argument) {
            self = .fixed(time.duration)
        } else {
            return nil
        }
    }
}

extension Jitter {
    /// The fixed playout delay; nil for `auto`.
    public var depth: Duration? {
        if case .fixed(let depth) = self { depth } else { nil }
    }
}

/// Throws if `port` is 0 (any free port), because the other end must know the port. Commands call it in `validate`.
public func checkPort(_ port: UInt16?) throws {
    guard port == 0 else { return }
    throw ValidationError("--port 0 is not a port that others can send to: write a number from 1 to 65535.")
}

/// Throws if `payloadType` is not dynamic (RFC 3551 section 6). Commands call it in `validate`.
public func checkPayloadType(_ payloadType: UInt8?) throws {
    guard let payloadType, !(96...127).contains(payloadType) else { return }
    throw ValidationError("--payload-type \(payloadType) is not dynamic: write a number from 96 to 127.")
}

/// Throws if `depth`, a playout delay or its maximum, is above 5 s. Commands call it in `validate`.
public func checkDepth(_ depth: Duration?, of option: String) throws {
    let deepest = Duration.seconds(5)
    guard let depth, depth > deepest else { return }
    throw ValidationError("\(option) \(text(of: depth)) is too long: write at most \(text(of: deepest)).")
}

extension Profile: ExpressibleByArgument {}

/// Formats a number with `places` decimal places. If `trimming` is true, trailing zeros are removed.
public func decimal(_ number: Double, places: Int, trimming: Bool = false) -> String {
    guard number.isFinite else { return "–" }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((number.magnitude * scale).rounded())
    let sign = number < 0 && scaled > 0 ? "-" : ""
    let whole = "\(sign)\(scaled / Int(scale))"
    guard places > 0 else { return whole }
    let digits = String(scaled % Int(scale))
    var fraction = String(repeating: "0", count: places - digits.count) + digits
    if trimming { while fraction.last == "0" { fraction.removeLast() } }
    return fraction.isEmpty ? whole : "\(whole).\(fraction)"
}
