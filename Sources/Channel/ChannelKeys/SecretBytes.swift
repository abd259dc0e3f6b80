private import CSodium

/// Bytes that nobody else may know: zeroed when they are let go, never shown, compared in constant time.
///
/// Shared, not copied, so that they are in one place of memory. Any thread; they never change, but for what their only owner takes.
@safe
public final class SecretBytes: @unchecked Sendable {
    private let memory: UnsafeMutableBufferPointer<UInt8>

    /// `fill` writes all of the `count` bytes, which are zero before.
    public init<Failure: Error>(
        count: Int, _ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(librariesAreReady, "libsodium cannot work here")
        unsafe memory = .allocate(capacity: count)
        unsafe memory.initialize(repeating: 0)
        var span = unsafe MutableSpan(_unsafeElements: memory)
        try fill(&span)
    }

    /// A copy: the caller zeroes its own.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { for index in bytes.indices { $0[index] = bytes[index] } }
    }

    public convenience init(count: Int, using generator: inout some RandomNumberGenerator) {
        self.init(count: count) { bytes in
            for index in bytes.indices { bytes[index] = .random(in: 0 ... .max, using: &generator) }
        }
    }

    deinit {
        unsafe sodium_memzero(memory.baseAddress!, memory.count)
        unsafe memory.deallocate()
    }

    public var count: Int { unsafe memory.count }

    /// Lends the bytes.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let span = unsafe Span(_unsafeElements: memory)
        return try body(span)
    }

    /// Eight of the bytes, of which nothing is left. Nobody else may have these.
    func take(at place: Int) -> UInt64 {
        defer { unsafe sodium_memzero(memory.baseAddress! + place, 8) }
        return withBytes { $0.number(at: place) }
    }

    /// `range` of the bytes, on its own.
    func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }
}

extension SecretBytes: Equatable {
    /// `sodium_memcmp`.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe sodium_memcmp(left.memory.baseAddress!, right.memory.baseAddress!, left.count) == 0
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Chooses the fastest code for this processor (`sodium_init`), once. Without it every function works, slowly.
private let librariesAreReady = sodium_init() >= 0
