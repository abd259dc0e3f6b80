/// A buffer of fixed size for threads that must not allocate. Its memory is allocated by `init` and freed with the
/// buffer.
@safe
public struct FixedBuffer<Element: BitwiseCopyable>: ~Copyable {
    @usableFromInline let base: UnsafeMutablePointer<Element>
    public let count: Int

    /// Allocates `count` elements, each a copy of `element`.
    public init(repeating element: Element, count: Int) {
        precondition(count > 0, "nothing to allocate")
        unsafe base = .allocate(capacity: count)
        self.count = count
        // Initialises one element, and then doubles the initialised part by copies: without optimisation,
        // `initialize(repeating:count:)` calls a function per element, which took a tenth of the tests' time.
        unsafe base.initialize(to: element)
        var filled = 1
        while filled < count {
            let added = min(filled, count - filled)
            unsafe (base + filled).initialize(from: base, count: added)
            filled += added
        }
    }

    deinit { unsafe base.deallocate() }

    @inlinable
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "index out of range")
            return unsafe base[index]
        }
        set {
            precondition(index >= 0 && index < count, "index out of range")
            unsafe base[index] = newValue
        }
    }

    /// All elements, for reading.
    @inlinable
    public var span: Span<Element> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(Span(_unsafeStart: base, count: count), borrowing: self) }
    }

    /// The elements in `range`, for reading.
    @inlinable @_lifetime(borrow self)
    public func span(in range: Range<Int>) -> Span<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range out of bounds")
        return unsafe _overrideLifetime(
            Span(_unsafeStart: base + range.lowerBound, count: range.count), borrowing: self)
    }

    /// The elements in `range`, for writing.
    @inlinable @_lifetime(&self)
    public mutating func mutableSpan(in range: Range<Int>) -> MutableSpan<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range out of bounds")
        return unsafe _overrideLifetime(
            MutableSpan(_unsafeStart: base + range.lowerBound, count: range.count), mutating: &self)
    }

    /// All elements, for writing.
    @inlinable
    public var mutableSpan: MutableSpan<Element> {
        @_lifetime(&self)
        mutating get { unsafe _overrideLifetime(MutableSpan(_unsafeStart: base, count: count), mutating: &self) }
    }
}

extension FixedBuffer: @unchecked Sendable where Element: Sendable {}
