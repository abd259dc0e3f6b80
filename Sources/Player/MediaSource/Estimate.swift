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
