private import CSndFile
internal import Glibc
internal import TenfourAudioCore

/// Writes samples to a descriptor as FLAC, by libsndfile (`sf_open_virtual`, `sf_writef_int`). The samples of the file are
/// those given, rounded to its width.
@safe
internal struct FLACOutput: ~Copyable, @unchecked Sendable {
    private let bytes: FLACBytes
    private let format: RawFormat

    /// The codings that FLAC stores.
    static let codings: Set<SampleCoding> = [.signed16, .packedSigned24]

    init(_ descriptor: Descriptor, _ format: RawFormat) {
        bytes = FLACBytes(descriptor)
        self.format = format
    }

    deinit { try? end() }

    /// Writes the header with `tags`.
    mutating func begin(_ tags: AudioFileTags) throws(AudioFileError) {
        let name = bytes.descriptor.name
        try loadSndFile(for: name)
        var info = SF_INFO()
        info.samplerate = Int32(clamping: format.format.rate.hertz)
        info.channels = Int32(clamping: format.format.channelCount)
        let width = format.coding == .signed16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24
        info.format = Int32(SF_FORMAT_FLAC | width)
        var calls = unsafe SF_VIRTUAL_IO(
            get_filelen: flacByteCount, seek: seekFLAC, read: readFLAC, write: writeFLAC, tell: flacOffset)
        let opened = unsafe sndfile.sf_open_virtual(
            &calls, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(bytes).toOpaque())
        guard let opened = unsafe opened else {
            let words = unsafe sndfile.sf_strerror(nil).map { unsafe String(cString: $0) } ?? ""
            throw bytes.failure ?? AudioFileError(.isNotWritten(words), name: name)
        }
        unsafe bytes.file = opened
        let texts = [(SF_STR_TITLE, tags.title), (SF_STR_ARTIST, tags.artist), (SF_STR_ALBUM, tags.album)]
        // A tag that cannot be stored is left out.
        for (kind, text) in texts { if let text { _ = unsafe sndfile.sf_set_string(opened, Int32(kind), text) } }
    }

    /// Writes whole frames.
    mutating func write(_ samples: Span<Float>) throws(AudioFileError) {
        let channels = format.format.channelCount
        let limit = Self.pieceCount - Self.pieceCount % channels
        var piece = InlineArray<1_024, Int32>(repeating: 0)
        var start = 0
        while start < samples.count {
            let count = min(samples.count - start, limit)
            for index in 0..<count { piece[index] = format.coding.leftAligned(samples[start + index]) }
            try write(count / channels, of: piece.span)
            start += count
        }
    }

    /// The number of samples that are converted at a time.
    private static let pieceCount = 1_024

    private func write(_ frameCount: Int, of piece: Span<Int32>) throws(AudioFileError) {
        // After an error libsndfile is not called again, since it would print words of its own.
        if let failure = bytes.failure { throw failure }
        guard let file = unsafe bytes.file else { return }
        let written = unsafe piece.withUnsafeBufferPointer {
            unsafe sndfile.sf_writef_int(file, $0.baseAddress, sf_count_t(frameCount))
        }
        // libFLAC may take samples although bytes before them could not be written.
        if let failure = bytes.failure { throw failure }
        guard written == sf_count_t(frameCount) else {
            let words = unsafe sndfile.sf_strerror(file).map { unsafe String(cString: $0) } ?? ""
            throw AudioFileError(.isNotWritten(words), name: bytes.descriptor.name)
        }
    }

    /// Completes the header and the last block. Throws if they cannot be written.
    func end() throws(AudioFileError) {
        guard let closed = unsafe bytes.file else { return }
        unsafe bytes.file = nil
        _ = unsafe sndfile.sf_close(closed)
        if let failure = bytes.failure { throw failure }
    }
}

/// The descriptor that libsndfile writes to, and the first error.
@safe
private final class FLACBytes {
    let descriptor: Descriptor
    /// libsndfile's handle; nil before `begin` and after `end`.
    var file: OpaquePointer?
    var failure: AudioFileError?

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Returns the object that libsndfile hands back to a function below.
    static func of(_ pointer: UnsafeMutableRawPointer?) -> FLACBytes? {
        unsafe pointer.map { unsafe Unmanaged<FLACBytes>.fromOpaque($0).takeUnretainedValue() }
    }
}

@c private func flacByteCount(_ pointer: UnsafeMutableRawPointer?) -> sf_count_t {
    var status = stat()
    guard let bytes = unsafe FLACBytes.of(pointer), unsafe fstat(bytes.descriptor.number, &status) == 0 else {
        return 0
    }
    return sf_count_t(status.st_size)
}

@c private func seekFLAC(_ offset: sf_count_t, _ whence: Int32, _ pointer: UnsafeMutableRawPointer?) -> sf_count_t {
    unsafe FLACBytes.of(pointer).map { sf_count_t(lseek($0.descriptor.number, off_t(offset), whence)) } ?? -1
}

@c private func readFLAC(
    _ target: UnsafeMutableRawPointer?, _ count: sf_count_t, _ pointer: UnsafeMutableRawPointer?
) -> sf_count_t { 0 }

@c private func writeFLAC(
    _ source: UnsafeRawPointer?, _ count: sf_count_t, _ pointer: UnsafeMutableRawPointer?
) -> sf_count_t {
    guard let source = unsafe source, let bytes = unsafe FLACBytes.of(pointer), bytes.failure == nil else { return 0 }
    let given = unsafe UnsafeRawBufferPointer(start: source, count: Int(count)).bindMemory(to: UInt8.self)
    do throws(AudioFileError) {
        try unsafe bytes.descriptor.write(given.count, of: Span(_unsafeElements: given))
        return count
    } catch {
        bytes.failure = error
        return 0
    }
}

@c private func flacOffset(_ pointer: UnsafeMutableRawPointer?) -> sf_count_t {
    unsafe FLACBytes.of(pointer).map { sf_count_t(lseek($0.descriptor.number, 0, SEEK_CUR)) } ?? -1
}
