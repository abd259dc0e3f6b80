#if FFmpeg
    internal import CAV
    internal import TenfourAudioCore

    /// The tags, chapters and pictures of a container that FFmpeg has opened.
    @safe
    struct ContainerTags {
        private let handle: UnsafeMutablePointer<AVFormatContext>
        /// The stream that is played. Its tags count beside those of the file, since Ogg stores tags per stream.
        private let streamIndex: Int32

        /// The longest tag that is read, in bytes. Tags have no length limit of their own.
        private static let longest = 4_096

        init(_ handle: UnsafeMutablePointer<AVFormatContext>, streamIndex: Int32) {
            unsafe self.handle = handle
            self.streamIndex = streamIndex
        }

        /// Writes the tags into `track`, and those of `tag`, which lies before the container, where it has none.
        func fill(_ track: inout Track, after tag: ID3Tag) {
            track.title = shownText("title") ?? tag.title
            track.artist = shownText("artist") ?? tag.artist
            track.album = shownText("album") ?? tag.album
            track.gain = tag.gain
            for name in ReplayGain.tagNames {
                if let value = text(name) { track.gain.read(name, value) }
            }
            track.chapters = chapters.isEmpty ? tag.chapters : chapters
            track.pictures = tag.pictures + pictures
        }

        /// Returns a tag of the stream itself, safe to display.
        func ofStream(_ key: String) -> String? {
            unsafe Self.text(key, in: handle.pointee.streams[Int(streamIndex)]?.pointee.metadata, limit: 256)
                .flatMap { shown($0) }
        }

        private func shownText(_ key: String) -> String? { text(key).flatMap { shown($0) } }

        private func text(_ key: String, limit: Int = longest) -> String? {
            unsafe Self.text(key, in: handle.pointee.metadata, limit: limit)
                ?? Self.text(key, in: handle.pointee.streams[Int(streamIndex)]?.pointee.metadata, limit: limit)
        }

        private static func text(_ key: String, in tags: OpaquePointer?, limit: Int = longest) -> String? {
            guard let value = unsafe av.av_dict_get(tags, key, nil, 0)?.pointee.value else { return nil }
            // Limits the length before the text is copied.
            let length = unsafe strnlen(value, limit)
            return unsafe String(decoding: UnsafeRawBufferPointer(start: value, count: length), as: UTF8.self)
        }

        /// The end of the stream as its tag states it, such as `00:03:20.123000000`, which Matroska has beside the
        /// duration of the whole file; nil if there is none.
        var statedEnd: Duration? {
            let tags = unsafe handle.pointee.streams[Int(streamIndex)]?.pointee.metadata
            guard let text = unsafe Self.text("DURATION", in: tags, limit: 64) else { return nil }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let hours = Int(parts[0]), (0..<10_000).contains(hours),
                let minutes = Int(parts[1]), (0..<60).contains(minutes), let seconds = Double(parts[2]),
                (0..<60).contains(seconds), hours + minutes > 0 || seconds > 0
            else { return nil }
            return .seconds(hours * 3_600 + minutes * 60) + .microseconds(Int64((seconds * 1e6).rounded()))
        }

        // MARK: Chapters

        /// The chapters, or the tracks of a CUE sheet in a comment, which has more titles.
        private var chapters: [Chapter] {
            if let sheet = text("cuesheet", limit: CueSheet.maximumByteCount), let parsed = Self.tracks(of: sheet) {
                return parsed
            }
            let count = unsafe min(Int(handle.pointee.nb_chapters), Chapter.maximumCount)
            guard count > 0 else { return chaptersWithoutTitles }
            return (0..<count).compactMap { index -> Chapter? in
                guard let chapter = unsafe handle.pointee.chapters[index]?.pointee else { return nil }
                let base = unsafe chapter.time_base
                guard base.num > 0, base.den > 0 else { return nil }
                let start = unsafe av.av_rescale_q(chapter.start, base, AVRational(num: 1, den: 1_000_000))
                guard 0..<1 << 55 ~= start else { return nil }
                let title = unsafe Self.text("title", in: chapter.metadata).flatMap { shown($0) }
                return Chapter(start: .microseconds(start), title: title)
            }.ordered
        }

        /// The chapters of an MP4 whose titles were not read, from the index of the text track that has them.
        private var chaptersWithoutTitles: [Chapter] {
            for index in unsafe 0..<Int(handle.pointee.nb_streams) {
                guard let stream = unsafe handle.pointee.streams[index],
                    unsafe stream.pointee.codecpar.pointee.codec_tag == Self.textTag
                else { continue }
                let (base, count) = unsafe (stream.pointee.time_base, av.avformat_index_get_entries_count(stream))
                guard base.num > 0, base.den > 0 else { continue }
                return (0..<min(count, Int32(Chapter.maximumCount))).compactMap { number -> Chapter? in
                    guard let entry = unsafe av.avformat_index_get_entry(stream, number)?.pointee else { return nil }
                    let start = av.av_rescale_q(entry.timestamp, base, AVRational(num: 1, den: 1_000_000))
                    return 0..<1 << 55 ~= start ? Chapter(start: .microseconds(start)) : nil
                }.ordered
            }
            return []
        }

        /// The format of QuickTime's text tracks, `text`, as FFmpeg stores it.
        private static let textTag = UInt32(littleEndian: 0x7478_6574)

        private static func tracks(of sheet: String) -> [Chapter]? {
            let bytes = Array(sheet.utf8)
            guard let tracks = try? CueSheet(parsing: bytes.span, from: .standardInput).tracks, tracks.count > 1,
                tracks.allSatisfy({ $0.resource == tracks[0].resource })
            else { return nil }
            return tracks.map { Chapter(start: $0.part.start, title: $0.part.title) }.ordered
        }

        // MARK: Pictures

        private var pictures: [Picture] {
            let count = unsafe Int(handle.pointee.nb_streams)
            return (0..<count).compactMap { index in
                guard let stream = unsafe handle.pointee.streams[index],
                    unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
                else { return nil }
                return unsafe Self.picture(stream)
            }
        }

        private static func picture(_ stream: UnsafeMutablePointer<AVStream>) -> Picture? {
            guard let data = unsafe stream.pointee.attached_pic.data else { return nil }
            let bytes = unsafe Span(_unsafeStart: data, count: max(Int(stream.pointee.attached_pic.size), 0))
            // FFmpeg keeps the kind as a comment with the name that ID3 gives it, such as "Cover (front)".
            let name = unsafe text("comment", in: stream.pointee.metadata, limit: 64)
            let kind: Picture.Kind? =
                switch name {
                case "Cover (front)": .frontCover
                case "Cover (back)": Picture.Kind(rawValue: 4)
                default: nil
                }
            return Picture(kind: kind, mediaType: nil, byteCount: bytes.count, beginning: bytes)
        }
    }
#endif
