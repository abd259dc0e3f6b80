private import CSodium

/// Secret bytes in memory that is never written to the swap space, and is left out of core dumps. They are zeroed when
/// they are released, never printed, and compared in constant time.
///
/// The C function is `sodium_malloc`, which takes several pages for each object: use it for secrets that last. Where the
/// system locks no more memory (`ulimit -l`), the bytes are in ordinary memory. It is a class, so that the bytes exist
/// only once. They do not change, so any thread may use it.
@safe
public final class LockedBytes: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    /// Allocates `count` zero bytes and passes them to `fill`, which must write all of them.
    public init<Failure: Error>(
        count: Int, _ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        guard sodium_init() >= 0, let start = unsafe sodium_malloc(max(count, 1)) else {
            preconditionFailure("no memory for a secret")
        }
        unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: count)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
        var span = unsafe MutableSpan(_unsafeElements: memory.bindMemory(to: UInt8.self))
        try fill(&span)
    }

    /// Copies `bytes`; the caller must zero the original.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { for index in bytes.indices { $0[index] = bytes[index] } }
    }

    /// Makes random bytes. `generator` must be unpredictable: the system's generator, outside tests.
    public convenience init(count: Int, using generator: inout some RandomNumberGenerator) {
        self.init(count: count) { bytes in
            for index in bytes.indices { bytes[index] = .random(in: 0 ... .max, using: &generator) }
        }
    }

    deinit { unsafe sodium_free(memory.baseAddress!) }

    public var count: Int { unsafe memory.count }

    /// Calls `body` with the bytes, which are valid only while it runs.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let span = unsafe Span<UInt8>(_unsafeElements: UnsafeRawBufferPointer(memory).bindMemory(to: UInt8.self))
        return try body(span)
    }
}

extension LockedBytes: Equatable {
    /// Compares in constant time. The C function is `sodium_memcmp`.
    public static func == (left: LockedBytes, right: LockedBytes) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe sodium_memcmp(left.memory.baseAddress!, right.memory.baseAddress!, left.count) == 0
    }
}

extension LockedBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
