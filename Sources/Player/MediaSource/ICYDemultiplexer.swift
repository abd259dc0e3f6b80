/// Takes apart what a radio station sends: sound, and after every so many bytes of it a block of metadata, which is mostly empty.
package struct ICYDemultiplexer {
    private let interval: Int
    private var soundLeft: Int
    /// Of a block, once its length is known.
    private var metadataLeft: Int?
    private var metadata: [UInt8] = []

    /// `interval` is the header `icy-metaint`; nil for what cannot be one.
    package init?(interval: Int) {
        guard (1...1 << 24).contains(interval) else { return nil }
        self.interval = interval
        soundLeft = interval
    }

    /// Calls `sound` and `found` in the order in which they lie in `bytes`. A block may come in several pieces.
    package mutating func take<Failure>(
        _ bytes: UnsafeRawBufferPointer, sound: (UnsafeRawBufferPointer) throws(Failure) -> Void,
        found: (ICYMetadata) -> Void
    ) throws(Failure) {
        var place = 0
        while place < bytes.count {
            if soundLeft > 0 {
                let count = min(soundLeft, bytes.count - place)
                try unsafe sound(UnsafeRawBufferPointer(rebasing: bytes[place..<place + count]))
                soundLeft -= count
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
                soundLeft = interval
            }
        }
    }
}
