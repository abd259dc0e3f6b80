// Sound from an address in four steps: download its bytes, parse them into packets, read those as LPCM, stream that to an output.
// Pull goes right to left, sound left to right. This room never opens a socket, starts no thread and knows no C library but Opus.

/// A figure, and whether it is a guess that will be made better: people see `≈` before such a one.
public struct Estimate<Value: Sendable>: Sendable {
    public var value: Value
    public var isExact: Bool

    public init(_ value: Value, isExact: Bool) {
        self.value = value
        self.isExact = isExact
    }
}

extension Estimate: Equatable where Value: Equatable {}
