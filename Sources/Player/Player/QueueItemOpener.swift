internal import TenfourAudioCore
internal import TenfourMediaSource

/// Opens queue items. The player fetches and decodes only through this protocol.
protocol QueueItemOpener: Sendable {
    /// Starts fetching the item's bytes. Does not block.
    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource

    /// Detects the kind of the resource and opens it. Blocks until enough bytes have arrived. `format` is the format to
    /// decode to; nil: the recording's own.
    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia

    /// Whether the program makes readers of its own, which may have side effects and decode other audio.
    var hasOwnReaders: Bool { get }

    /// An opener of the same items whose readers apply no gain of tags.
    var withoutGain: any QueueItemOpener { get }

    /// Returns the buffer limits for a bit rate; nil if the limits do not depend on the bit rate.
    func limits(atBitRate bitRate: Int) -> BufferLimits?
}

extension QueueItemOpener {
    /// The default is false.
    var hasOwnReaders: Bool { false }

    /// Returns the opener itself: the default for openers that apply none.
    var withoutGain: any QueueItemOpener { self }
}

/// The result of opening an address.
enum OpenedMedia {
    case media(any MediaReader)
    /// A playlist or folder with at least one entry. The note is a sentence about entries that were left out.
    case playlist([QueueItem], note: String? = nil)
    /// The address is a list of segments: open this source instead, which fetches them. The list's own source is not
    /// needed any more.
    case segments(any ByteSource)
}
