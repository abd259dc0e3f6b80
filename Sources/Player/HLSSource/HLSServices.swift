public import TenfourAudioCore
public import TenfourMediaSource

/// The services that HTTP Live Streaming needs: the network, the cipher, the demuxers and decoders, and the clock.
public struct HLSServices: Sendable {
    /// Decrypts whole blocks of 16 bytes in place. Calls continue each other (CBC).
    public typealias Decryption = (inout [UInt8]) -> Void

    /// Starts fetching the bytes of an address that a playlist names; nil for the range: all. Must not block. Throws if
    /// the address must not be opened.
    public var open: @Sendable (Resource, _ range: Range<Int>?, BufferLimits) throws(ByteSourceError) -> any ByteSource
    /// Returns a decryption by AES-128 in CBC mode with a key and an initialization vector of 16 bytes each.
    public var makeDecryption: @Sendable (_ key: [UInt8], _ vector: [UInt8]) throws(ByteSourceError) -> Decryption
    /// Opens a reader for bytes that arrive once and in order. Blocks until the first audio is decoded.
    public var openReader: @Sendable (any ByteSource, LPCMFormat?) throws(ReaderError) -> any MediaReader
    /// The present time of the monotonic clock.
    public var now: @Sendable () -> Instant

    /// The duration of audio to fetch ahead of playback.
    public var bufferedDuration = Duration.seconds(30)
    /// The time after which a live playlist that cannot be loaded any more ends playback; nil: no limit.
    public var giveUpAfter: Duration?

    public init(
        open: @escaping @Sendable (Resource, Range<Int>?, BufferLimits) throws(ByteSourceError) -> any ByteSource,
        makeDecryption: @escaping @Sendable ([UInt8], [UInt8]) throws(ByteSourceError) -> Decryption,
        openReader: @escaping @Sendable (any ByteSource, LPCMFormat?) throws(ReaderError) -> any MediaReader,
        now: @escaping @Sendable () -> Instant
    ) {
        self.open = open
        self.makeDecryption = makeDecryption
        self.openReader = openReader
        self.now = now
    }
}
