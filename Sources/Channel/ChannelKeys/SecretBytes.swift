private import CSodium

/// Secret bytes: zeroed when they are released, never printed, compared in constant time. They are in memory that is left
/// out of core dumps and, where the system permits it, is never written to the swap space.
///
/// It is a class, so that the bytes exist only once in memory. It may be used on any thread, because the bytes do not
/// change, except by `take`, which only a sole owner may call.
@safe
public final class SecretBytes: @unchecked Sendable {
    private let memory: UnsafeMutableBufferPointer<UInt8>

    /// Allocates `count` zero bytes and passes them to `fill`, which must write all of them.
    public init<Failure: Error>(
        count: Int, _ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(SecretMemory.isReady, "libsodium cannot work here")
        let start = unsafe SecretMemory.allocate(count).bindMemory(to: UInt8.self, capacity: count)
        unsafe memory = UnsafeMutableBufferPointer(start: start, count: count)
        var span = unsafe MutableSpan(_unsafeElements: memory)
        try fill(&span)
    }

    /// Copies `bytes`; the caller must zero the original.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { for index in bytes.indices { $0[index] = bytes[index] } }
    }

    public convenience init(count: Int, using generator: inout some RandomNumberGenerator) {
        self.init(count: count) { bytes in
            for index in bytes.indices { bytes[index] = .random(in: 0 ... .max, using: &generator) }
        }
    }

    deinit { unsafe SecretMemory.free(memory.baseAddress!, memory.count) }

    public var count: Int { unsafe memory.count }

    /// Calls `body` with the bytes, which are valid only while it runs.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let span = unsafe Span(_unsafeElements: memory)
        return try body(span)
    }

    /// Returns the eight bytes that begin at index `place`, as a big-endian number, and zeroes them. The caller must be
    /// the sole owner of this object.
    func take(at place: Int) -> UInt64 {
        defer { unsafe sodium_memzero(memory.baseAddress! + place, 8) }
        return withBytes { $0.number(at: place) }
    }

    /// Returns a copy of `range` of the bytes.
    func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }
}

extension SecretBytes: Equatable {
    /// Compares in constant time. The C function is `sodium_memcmp`.
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
