/// An encoder of one stream. Turns interleaved samples into packets.
///
/// `encode` runs on the capture thread and must not allocate, lock or wait. The conforming type marks it with
/// `@_noAllocation @_noLocks`.
public protocol AudioEncoder: ~Copyable {
    /// The error that `encode` throws if it refuses a frame; `Never` if every frame can be encoded.
    associatedtype Failure: Error

    /// The encoding of the packets.
    var encoding: AudioEncoding { get }

    /// The sample rate and the number of channels of the samples that `encode` expects.
    var format: LPCMFormat { get }

    /// Encodes one frame of `samples` into the front of `packet` and returns the number of bytes.
    mutating func encode(_ samples: Span<Float>, into packet: inout MutableSpan<UInt8>) throws(Failure) -> Int
}
