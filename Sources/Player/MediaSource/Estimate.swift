/// A value and whether it is exact. An estimate is shown with `≈` and is refined later.
public struct Estimate<Value: Sendable>: Sendable {
    public var value: Value
    public var isExact: Bool

    public init(_ value: Value, isExact: Bool) {
        self.value = value
        self.isExact = isExact
    }
}

extension Estimate: Equatable where Value: Equatable {}
