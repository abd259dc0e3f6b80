#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    @testable import TenfourPlayer

    /// A reader of an HLS stream, and what holds it.
    struct OpenedHLS {
        var reader: any MediaReader
        var source: any ByteSource
        private var opener: ResourceOpener

        init(_ address: String) throws(StreamError) {
            var settings = DownloadSettings()
            settings.timeout = .seconds(5)
            opener = try ResourceOpener(settings)
            let item = QueueItem(address)
            let list = try opener.begin(item)
            defer { list.stop() }
            guard case .segments(let source) = try opener.open(list, of: item, as: nil),
                case .media(let reader) = try opener.open(source, of: item, as: nil)
            else { throw .unusable("this is no HLS") }
            (self.reader, self.source) = (reader, source)
        }
    }
#endif
