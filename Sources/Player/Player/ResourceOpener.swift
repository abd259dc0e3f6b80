internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourHLSSource
internal import TenfourHTTPSource
internal import TenfourMediaSource
internal import TenfourSystem

/// Opens addresses, files and pipes, with FFmpeg or, in a build without it, Ogg Opus and WAV only.
struct ResourceOpener: QueueItemOpener {
    private let settings: DownloadSettings
    /// The loop that fetches all items, so that they share connections.
    private let loop: HTTPLoop
    /// The largest number of bytes that `format(of:)` keeps, so that they can be read again.
    private static let sniffedByteLimit = 1 << 24
    /// The sources that `format(of:)` has opened and that `begin` will return.
    private let prepared = Locked<[(item: QueueItem, byteSource: any ByteSource)]>([])

    /// The errors of pipes that `format(of:)` has read, since their bytes cannot be read again.
    private let failures = Locked<[(item: QueueItem, error: StreamError)]>([])

    private let formats: MediaFormats
    /// The path of the output file, which must not be an item: its audio would be lost.
    private let output: String?
    /// Whether the output file existed before, and so may hold audio. A new one is only left out of folders.
    private let outputExisted: Bool
    /// Which gain of the tags is applied to the samples.
    private var gain: ReplayGain.Mode

    init(
        _ settings: DownloadSettings, _ formats: MediaFormats = MediaFormats(),
        output: StreamerConfiguration.Output? = nil, gain: ReplayGain.Mode = .none
    ) throws(StreamError) {
        self.settings = settings
        self.formats = formats
        self.gain = gain
        self.output = if case .file(let path) = output { path } else { nil }
        outputExisted = self.output.flatMap { FileIdentity(regularFileAt: $0) } != nil
        do { loop = try HTTPLoop() } catch { throw StreamError(error) }
    }

    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource {
        if let failure = failures.withLock({ $0.first { $0.item == item } }) { throw failure.error }
        let (ready, unused) = prepared.withLock { prepared -> ((any ByteSource)?, [any ByteSource]) in
            if let index = prepared.firstIndex(where: { $0.item == item }) {
                return (prepared.remove(at: index).byteSource, [])
            }
            // Playback begins elsewhere, so that what was opened in advance would stay open.
            defer { prepared = [] }
            return (nil, prepared.map(\.byteSource))
        }
        for byteSource in unused { byteSource.stop() }
        if let ready { return ready }
        return try start(item)
    }

    private func start(_ item: QueueItem) throws(StreamError) -> any ByteSource {
        if let own = item.ownBytes {
            do throws(ByteSourceError) { return try own.open() } catch { throw StreamError(error) }
        }
        if case .success(.file(let path)) = item.resource, FolderListing.isFolder(path) {
            return FolderByteSource(path)
        }
        do throws(ByteSourceError) {
            let byteSource = try resource(of: item).open(
                options: options(for: item), limits: settings.limits, on: loop)
            guard let file = byteSource as? FileByteSource else { return byteSource }
            if let identity = file.identity, identity == outputIdentity { throw overwriting(item) }
            if settings.endsGrowingFiles { file.endHere() }
            return file
        } catch {
            throw StreamError(error)
        }
    }

    private func options(for item: QueueItem) -> HTTPOptions {
        var options = HTTPOptions(
            proxy: settings.proxy, headers: settings.headers, trusted: item.typed,
            allowsDowngrade: settings.allowsDowngrade, timeout: settings.timeout, certificates: settings.certificates)
        options.giveUpAfter = settings.giveUpAfter
        options.giveUpLiveAfter = settings.giveUpLiveAfter
        return options
    }

    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia
    {
        if let stream = byteSource as? HLSStream {
            do throws(ReaderError) { return .media(withGain(try stream.openReader(format: format))) } catch {
                throw .read(error)
            }
        }
        if let folder = byteSource as? FolderByteSource { return try list(folder, of: item) }
        if let reader = try openOwnReader(byteSource, of: item, format) { return .media(reader) }
        let hint = item.fileType ?? formats.fileType
        if hint == nil {
            if let tracks = try tracks(in: byteSource, of: item) { return .playlist(tracks) }
            if let list = try list(in: byteSource, of: item) { return list }
        }
        do throws(ReaderError) {
            return .media(try item.parted(withGain(Self.openReader(byteSource, format, hint, track: formats.track))))
        } catch {
            throw .read(error)
        }
    }

    /// Opens the program's own reader; nil if it has none for these bytes. Blocks.
    private func openOwnReader(
        _ byteSource: any ByteSource, of item: QueueItem, _ format: LPCMFormat?
    ) throws(StreamError) -> (any MediaReader)? {
        guard let makeReader = formats.makeReader else { return nil }
        do throws(ReaderError) {
            guard let reader = try makeReader(byteSource, item, format) else { return nil }
            if let format, reader.format != format {
                throw .undecodable(
                    "the program's reader has \(reader.format.rate.hertz) Hz and \(reader.format.channelCount) channels, but the output has \(format.rate.hertz) Hz and \(format.channelCount) channels; convert in the reader, for example by PacketReader"
                )
            }
            return try item.parted(withGain(reader))
        } catch {
            throw .read(error)
        }
    }

    /// Returns the format and sample width of `item`, or of the first entry of a playlist; nil if the item cannot be read.
    /// Blocks. A later `begin` for the same item returns the source opened here. With `onlyFiles`, only local files are
    /// opened.
    func format(of item: QueueItem, onlyFiles: Bool = false) -> RecordedFormat? {
        if onlyFiles { guard case .success(.file) = item.resource else { return nil } }
        do throws(StreamError) {
            let byteSource = try start(item)
            // Keeps the bytes before the first audio, which may include a picture, since they are read twice.
            let limits = byteSource.limits
            byteSource.limits.behind = Self.sniffedByteLimit
            defer { byteSource.limits = limits }
            do throws(StreamError) {
                let opened = try open(byteSource, of: item, as: nil)
                prepared.withLock { $0.append((item, byteSource)) }
                switch opened {
                case .media(let reader): return RecordedFormat(reader)
                case .segments(let stream):
                    defer { stream.stop() }
                    // Segments are fetched, even those of a playlist in a file.
                    if onlyFiles { return nil }
                    // An error is reported when the item is opened for playback.
                    guard case .media(let reader)? = try? open(stream, of: item, as: nil) else { return nil }
                    return RecordedFormat(reader)
                case .playlist(let items, _): return items.first.flatMap { format(of: $0, onlyFiles: onlyFiles) }
                }
            } catch {
                byteSource.stop()
                if byteSource is PipeByteSource { failures.withLock { $0.append((item, error)) } }
                return nil
            }
        } catch {
            return nil
        }
    }

    func limits(atBitRate bitRate: Int) -> BufferLimits? { settings.limits(atBitRate: bitRate) }

    private func resource(of item: QueueItem) throws(ByteSourceError) -> Resource {
        switch item.resource {
        case .success(let resource): return resource
        case .failure(let error): throw .failed(error.description, kind: error.kind)
        }
    }

    /// Returns the entries of a playlist, or the stream of a playlist of segments; nil if the bytes are no playlist.
    /// Blocks.
    private func list(in byteSource: any ByteSource, of item: QueueItem) throws(StreamError) -> OpenedMedia? {
        var bytes: [UInt8] = []
        do throws(ByteSourceError) {
            guard try Playlist.read(byteSource, into: &bytes) else { return nil }
            if HLSPlaylist.isHLS(bytes.span) {
                try Playlist.read(byteSource, upTo: HLSPlaylist.maximumByteCount + 1, &bytes)
                return .segments(try stream(bytes, byteSource, item))
            }
        } catch {
            throw StreamError(error)
        }
        let place = PlaylistPlace(byteSource)
        guard !item.lists.contains(place) else {
            throw .unusable(
                "the playlist contains itself; play its other entries, or remove this entry from it",
                kind: .unplayableList)
        }
        guard item.depth < Playlist.maximumDepth else {
            throw .unusable(
                "the playlists are nested too deeply; play the innermost playlist directly", kind: .unplayableList)
        }
        let playlist: Playlist
        do throws(PlaylistError) {
            playlist = try Playlist(parsing: bytes.span, from: byteSource.state.resource ?? .standardInput)
        } catch {
            throw .unusable("\(item.name): \(error)", kind: error.kind)
        }
        return .playlist(try withoutOutput(playlist.entries.map { QueueItem($0, in: item, at: place) }))
    }

    private func stream(
        _ bytes: [UInt8], _ byteSource: any ByteSource, _ item: QueueItem
    ) throws(ByteSourceError) -> HLSStream {
        let address = (try? item.resource.get()) ?? .standardInput
        let base = byteSource.state.resource ?? address
        let services = services(for: item)
        do throws(HLSPlaylistError) {
            return try HLSStream(bytes.span, from: address, base: base, limits: settings.limits, services)
        } catch {
            throw .failed(error.description, kind: .unplayableList)
        }
    }

    private func services(for item: QueueItem) -> HLSServices {
        let (options, loop, settings) = (options(for: item), loop, settings)
        let isSecure = (try? item.resource.get())?.origin?.scheme == "https"
        var services = HLSServices(
            open: { (resource, range, limits) throws(ByteSourceError) in
                if isSecure, resource.origin?.scheme == "http", !settings.allowsDowngrade {
                    throw .failed(
                        "the HLS playlist comes by https and names addresses of http, where anybody on the path can read and change the data; allow it with --allow-http",
                        kind: .insecure)
                }
                return try resource.open(options: options, limits: limits, range: range, on: loop)
            },
            makeDecryption: { (key, vector) throws(ByteSourceError) in try Self.makeDecryption(key, vector) },
            openReader: { (byteSource, format) throws(ReaderError) in try Self.openReader(byteSource, format) },
            now: { MonotonicClock.now })
        services.bufferedDuration = settings.buffersAll ? .seconds(1 << 40) : settings.bufferedDuration
        services.giveUpAfter = settings.giveUpLiveAfter
        return services
    }

    var hasOwnReaders: Bool { formats.makeReader != nil }

    var withoutGain: any QueueItemOpener {
        var other = self
        other.gain = .none
        return other
    }

    private func withGain(_ reader: any MediaReader) -> any MediaReader {
        gain == .none ? reader : GainReader(reader, gain)
    }

    private static func openReader(
        _ byteSource: any ByteSource, _ format: LPCMFormat?, _ hint: ContainerFormat? = nil,
        track: AudioTrackChoice? = nil
    ) throws(ReaderError) -> any MediaReader {
        try TenfourMediaSource.openReader(byteSource, format: format, as: hint, track: track)
    }

    private static func makeDecryption(
        _ key: [UInt8], _ vector: [UInt8]
    ) throws(ByteSourceError) -> HLSServices.Decryption {
        #if FFmpeg
            do throws(ReaderError) {
                let decryption = try AESDecryption(key: key, vector: vector)
                return { decryption.decrypt(&$0) }
            } catch {
                throw .failed(StreamError.read(error).description, kind: error.kind)
            }
        #else
            throw .failed(
                "this program was built without FFmpeg and cannot decrypt: build tenfour with `--traits FFmpeg`",
                kind: .libraryMissing)
        #endif
    }
}

/// The format of a recording.
struct RecordedFormat {
    var format: LPCMFormat
    /// The width of its samples; nil for a lossy codec.
    var sampleWidth: SampleWidth?

    init(_ reader: any MediaReader) { (format, sampleWidth) = (reader.format, reader.sampleWidth) }
}

// MARK: Folders and CUE sheets
extension ResourceOpener {
    private func list(_ folder: FolderByteSource, of item: QueueItem) throws(StreamError) -> OpenedMedia {
        let listed = FolderListing(of: folder.path, leavingOut: outputExisted ? nil : output) { folder.isCancelled }
        if folder.isCancelled { throw StreamError(.interrupted) }
        guard let listing = listed else {
            throw .unusable(
                "the folder \(item.name) cannot be read; ask its owner, or `chmod` it", kind: .notPermitted)
        }
        guard !listing.paths.isEmpty else {
            throw .unusable(
                "there is no audio in the folder \(item.name); name another folder, or a file", kind: .notAudio)
        }
        let note = listing.omissionText.map { "the folder \(item.name) is not played whole: \($0)" }
        return .playlist(try withoutOutput(listing.paths.map { QueueItem(path: $0, in: item) }), note: note)
    }

    /// Returns the tracks of a CUE sheet; nil if the bytes are none. Blocks.
    private func tracks(in byteSource: any ByteSource, of item: QueueItem) throws(StreamError) -> [QueueItem]? {
        // A track is audio, whatever its name.
        if item.part != nil { return nil }
        let sheet: CueSheet?
        do throws(CueSheetError) {
            sheet = try CueSheet(reading: byteSource)
        } catch {
            if case .byteSource(let error) = error { throw StreamError(error) }
            throw .unusable("\(item.name): \(error)", kind: .unplayableList)
        }
        return try sheet.map { sheet throws(StreamError) in
            try withoutOutput(sheet.tracks.map { QueueItem($0, in: item) })
        }
    }
}

// MARK: The output file
extension ResourceOpener {
    private var outputIdentity: FileIdentity? { output.flatMap { FileIdentity(regularFileAt: $0) } }

    /// Returns the entries of a list. Throws if one of them is the output file: entries before it would overwrite it.
    private func withoutOutput(_ items: [QueueItem]) throws(StreamError) -> [QueueItem] {
        guard let outputIdentity else { return items }
        var last: String?
        for item in items {
            // The tracks of a CUE sheet name the same file one after the other.
            guard case .success(.file(let path)) = item.resource, path != last else { continue }
            last = path
            if FileIdentity(regularFileAt: path) == outputIdentity { throw StreamError(overwriting(item)) }
        }
        return items
    }

    private func overwriting(_ item: QueueItem) -> ByteSourceError {
        .failed("\(item.name) is the input and would be overwritten: write to another file", kind: .unusableOutput)
    }
}

extension QueueItem {
    /// Returns a reader for the item's part of `reader`.
    fileprivate func parted(_ reader: any MediaReader) throws(ReaderError) -> any MediaReader {
        guard let part else { return reader }
        return try PartReader(reader, part: part)
    }
}

/// How bytes become audio, where the program decides it.
struct MediaFormats: Sendable {
    /// The container format of items without one of their own; nil: detected.
    var fileType: ContainerFormat?
    /// The audio track; nil: the one that the file marks.
    var track: AudioTrackChoice?
    var makeReader: StreamerConfiguration.ReaderMaker?
}

extension StreamError {
    init(_ error: ByteSourceError) { self = .read(.demuxer(.byteSource(error))) }
}

extension DownloadSettings {
    /// The buffer limits before the bit rate is known.
    var limits: BufferLimits {
        if buffersAll { return .all }
        return bufferedByteCount.map { BufferLimits(ahead: $0) } ?? BufferLimits()
    }

    /// The buffer limits for the requested duration at `bitRate`, at most 16 MiB; nil if the settings fix the number of
    /// bytes.
    func limits(atBitRate bitRate: Int) -> BufferLimits? {
        guard !buffersAll, bufferedByteCount == nil else { return nil }
        let byteCount = min(bufferedDuration / .seconds(1), 86_400) * Double(bitRate) / 8
        return BufferLimits(ahead: Int(min(byteCount, 0x1p24)))
    }
}
