/// An encoder of one stream: interleaved samples go in, packets come out.
///
/// Capture thread: `encode` must not allocate, lock or wait.
public protocol AudioEncoder: ~Copyable {
    /// Why a frame was refused.
    associatedtype Failure: Error

    /// Encodes one frame of `samples` into the front of `packet` and returns the number of bytes.
    mutating func encode(_ samples: Span<Float>, into packet: inout MutableSpan<UInt8>) throws(Failure) -> Int
}
