/// One encoded packet, borrowed from the buffer that owns its bytes.
///
/// Stores a pointer instead of a `Span`, because a debug build of Swift 6.3 treats the end of a `Span`'s lifetime as a
/// deallocation. Therefore a function that passes a `Span` to a decoder could not be marked `@_noAllocation`.
@safe
public struct EncodedPacket: ~Copyable, ~Escapable {
    /// The address of the first byte; nil if there are no bytes.
    private let base: UnsafePointer<UInt8>?
    /// The number of bytes.
    public let count: Int
    public let encoding: AudioEncoding
    /// Whether the packet carries a coarse copy of the packet before it (in-band FEC).
    public let carriesFEC: Bool

    /// The longest duration of one packet: 120 ms (RFC 6716 section 3.2.5).
    public static var longestDuration: FrameCount { @_noAllocation @_noLocks get { FrameCount(5_760) } }

    /// Creates a packet with the payload `bytes`.
    @_lifetime(copy bytes) @_semantics("no_performance_analysis")
    public init(_ bytes: Span<UInt8>, _ encoding: AudioEncoding = .opus, carriesFEC: Bool = false) {
        // Keeps the address after the closure has returned: the packet cannot outlive `bytes`.
        unsafe base = bytes.withUnsafeBufferPointer { $0.baseAddress }
        count = bytes.count
        self.encoding = encoding
        self.carriesFEC = carriesFEC
    }

    /// Whether the packet has no bytes.
    public var isEmpty: Bool { @_noAllocation @_noLocks get { count == 0 } }

    /// The byte at `index`, which is 0 or more and less than `count`.
    public subscript(index: Int) -> UInt8 {
        @_noAllocation @_noLocks get {
            precondition(index >= 0 && index < count, "index out of range")
            guard let base = unsafe base else { return 0 }
            return unsafe base[index]
        }
    }

    /// All bytes of the packet. In a function that is marked `@_noAllocation`, use `count` and the subscript.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self) @_semantics("no_performance_analysis")
        get {
            unsafe _overrideLifetime(
                Span(_unsafeElements: UnsafeBufferPointer(start: base, count: count)), borrowing: self)
        }
    }
}
