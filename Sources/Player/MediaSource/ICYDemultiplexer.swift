/// Splits the stream of a radio station into audio and the metadata block that follows every `interval` bytes of audio.
package struct ICYDemultiplexer {
    private let interval: Int
    private var audioBytesLeft: Int
    /// The number of bytes left of the present metadata block; nil until the block's length byte has been read.
    private var metadataLeft: Int?
    private var metadata: [UInt8] = []

    /// Creates a demultiplexer for a stream whose header `icy-metaint` states `interval`, in bytes. Returns nil if
    /// `interval` is out of range.
    package init?(interval: Int) {
        guard (1...1 << 24).contains(interval) else { return nil }
        self.interval = interval
        audioBytesLeft = interval
    }

    /// Calls `sound` with audio bytes and `found` with metadata, in stream order. A metadata block may be spread over
    /// several calls of `feed`.
    package mutating func feed<Failure>(
        _ bytes: UnsafeRawBufferPointer, sound: (UnsafeRawBufferPointer) throws(Failure) -> Void,
        found: (ICYMetadata) -> Void
    ) throws(Failure) {
        var place = 0
        while place < bytes.count {
            if audioBytesLeft > 0 {
                let count = min(audioBytesLeft, bytes.count - place)
                try unsafe sound(UnsafeRawBufferPointer(rebasing: bytes[place..<place + count]))
                audioBytesLeft -= count
                place += count
            } else if let left = metadataLeft {
                let count = min(left, bytes.count - place)
                unsafe metadata.append(contentsOf: bytes[place..<place + count])
                metadataLeft = left - count
                place += count
            } else {
                metadataLeft = unsafe Int(bytes[place]) * 16
                place += 1
            }
            if metadataLeft == 0 {
                if !metadata.isEmpty { found(ICYMetadata(parsing: metadata.span)) }
                metadata.removeAll(keepingCapacity: true)
                metadataLeft = nil
                audioBytesLeft = interval
            }
        }
    }
}
