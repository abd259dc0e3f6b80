private import CSndFile
internal import Glibc
internal import TenfourAudioCore

/// The result of opening a file or stream: libsndfile's handle or an `LPCMInput`, and the format.
@safe
internal struct OpenedAudio {
    /// libsndfile's handle; nil for a stream.
    var file: OpaquePointer?
    var stream: LPCMInput?
    var format: LPCMFormat
    var frameCount: FrameCount?
    var name: String
    /// The descriptor that the reader must close; nil if the caller closes it.
    var owned: Int32?

    init(path: String, rawFormat: RawFormat?) throws(AudioFileError) {
        guard path != "-" else {
            let input = Descriptor(number: STDIN_FILENO, name: "standard input")
            self = try Self(input, rawFormat: rawFormat)
            return
        }
        let number = unsafe path.withPath { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        guard number >= 0 else { throw AudioFileError(errno: errno, in: "open", name: path) }
        do throws(AudioFileError) {
            let descriptor = Descriptor(number: number, name: path)
            self = try Self(descriptor, rawFormat: rawFormat)
        } catch {
            close(number)
            throw error
        }
        if owned == nil {
            owned = number
        } else {
            // Closes the pipe, which was copied completely to a file and is no longer needed.
            close(number)
        }
    }

    /// Opens the file or pipe of `descriptor`, which the caller closes. If it has no known header, its samples are read
    /// in `rawFormat`; if `rawFormat` is nil, a known header is required.
    init(_ descriptor: Descriptor, rawFormat: RawFormat?) throws(AudioFileError) {
        if let format = rawFormat?.format { try format.check(for: descriptor.name) }
        let isRegular = descriptor.isRegularFile
        let start = try descriptor.read(AudioFileFormat.sniffedByteCount)
        guard !start.isEmpty else { throw AudioFileError(.isEmpty, name: descriptor.name) }
        let container = AudioFileFormat(sniffing: start)
        if container == nil, let rawFormat {
            self.init(LPCMInput(descriptor, rawFormat, after: start))
        } else if isRegular {
            lseek(descriptor.number, -off_t(start.count), SEEK_CUR)
            try self.init(library: descriptor)
        } else if container == .wav {
            let header = try WAVHeader(reading: descriptor)
            self.init(LPCMInput(descriptor, header.format, byteCount: header.byteCount))
        } else {
            try self.init(pipe: descriptor, after: start)
        }
    }

    private init(_ stream: LPCMInput) {
        self.stream = stream
        format = stream.format.format
        name = stream.descriptor.name
    }

    private init(pipe descriptor: Descriptor, after start: [UInt8]) throws(AudioFileError) {
        let pipeBuffer = try PipeBuffer(descriptor, after: start).descriptor
        do throws(AudioFileError) {
            try self.init(library: pipeBuffer)
        } catch {
            close(pipeBuffer.number)
            throw error
        }
        owned = pipeBuffer.number
    }

    private init(library descriptor: Descriptor) throws(AudioFileError) {
        try loadSndFile(for: descriptor.name)
        var info = SF_INFO()
        // libsndfile gets a duplicate of the descriptor: version 1.2.0 closes a descriptor that it cannot read, even if
        // SF_FALSE forbids it.
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw AudioFileError(errno: errno, in: "fcntl", name: descriptor.name) }
        guard let file = unsafe sndfile.sf_open_fd(copy, Int32(SFM_READ), &info, Int32(SF_TRUE)) else {
            let words = unsafe sndfile.sf_strerror(nil).map { unsafe String(cString: $0) } ?? ""
            throw AudioFileError(.isNotSound(words), name: descriptor.name)
        }
        let (hertz, channelCount) = (Int(info.samplerate), Int(info.channels))
        do throws(AudioFileError) {
            try LPCMFormat.check(channelCount: channelCount, hertz: hertz, for: descriptor.name)
        } catch {
            _ = unsafe sndfile.sf_close(file)
            throw error
        }
        unsafe self.file = file
        format = LPCMFormat(rate: SampleRate(hertz: hertz), channelCount: channelCount)
        frameCount = FrameCount(max(Int(info.frames), 0))
        name = descriptor.name
    }
}

extension LPCMFormat {
    /// Throws if the channel count or rate is not supported.
    internal func check(for name: String) throws(AudioFileError) {
        try Self.check(channelCount: channelCount, hertz: rate.hertz, for: name)
    }

    internal static func check(channelCount: Int, hertz: Int, for name: String) throws(AudioFileError) {
        guard AudioFileReader.channelCounts.contains(channelCount)
        else { throw AudioFileError(.unsupportedChannelCount(channelCount), name: name) }
        guard AudioFileReader.rates.contains(hertz) else { throw AudioFileError(.unsupportedRate(hertz), name: name) }
    }
}
