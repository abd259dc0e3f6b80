public import ArgumentParser
public import Radio

/// A duration as people write it: `20ms`, `1.5s`, `2500us`, `1:23`, `1:02:03.5`; a bare number is in `Unit`.
public struct Time<Unit: BareUnit>: ExpressibleByArgument {
    public var duration: Duration

    public init(_ duration: Duration) { self.duration = duration }

    public init?(argument: String) {
        if argument.contains(":") {
            guard let seconds = Self.seconds(argument) else { return nil }
            duration = .seconds(seconds)
            return
        }
        let units: [(String, Double)] = [("us", 1), ("µs", 1), ("ms", 1_000), ("min", 60_000_000), ("s", 1_000_000)]
        let unit = units.first { argument.hasSuffix($0.0) }
        let number = unit.map { argument.dropLast($0.0.count) } ?? Substring(argument)
        guard let value = Double(number), value >= 0, value < 1e9, value.isFinite else { return nil }
        duration = .microseconds(value * (unit?.1 ?? Unit.microseconds))
    }

    /// Of minutes and seconds, or hours too, as a player shows them.
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

/// `20 ms`, `2.5 ms`.
public func text(of duration: Duration) -> String {
    decimal(duration / .milliseconds(1), places: 1, trimming: true) + " ms"
}

/// `32k`, or a bare number in kbit/s as opusenc has it.
public struct BitRate: ExpressibleByArgument {
    public var bitsPerSecond: Int

    public init(_ bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }

    public init?(argument: String) {
        let number = argument.hasSuffix("k") ? argument.dropLast() : Substring(argument)
        guard let value = Double(number), value >= 6, value <= 510 else { return nil }
        bitsPerSecond = Int(value * 1_000)
    }

    public var defaultValueDescription: String { "\(bitsPerSecond / 1_000)k" }
}

/// `auto`, or a fixed depth.
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
    /// Nil for `auto`.
    public var depth: Duration? {
        if case .fixed(let depth) = self { depth } else { nil }
    }
}

/// For `validate` of a command: refuses a depth of the jitter buffer that nobody can mean.
public func checkDepth(_ depth: Duration?, of option: String) throws {
    let deepest = Duration.seconds(5)
    guard let depth, depth > deepest else { return }
    throw ValidationError("\(option) \(text(of: depth)) is too deep: write at most \(text(of: deepest)).")
}

extension Profile: ExpressibleByArgument {}

/// A number with so many digits behind the point; `trimming` leaves out zeros at its end.
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
