import Glibc
import TenfourAudioCore
import TenfourAudioFile
import Testing

/// Returns the error of opening `path` for reading; nil if there is none.
private func refusal(toRead path: String, rawFormat: RawFormat? = nil) -> AudioFileError? {
    do {
        _ = try AudioFileReader(path: path, rawFormat: rawFormat)
        return nil
    } catch {
        return error
    }
}

private func refusal(
    toWrite path: String, format: LPCMFormat = .mono, coding: SampleCoding = .signed16
) -> AudioFileError? {
    do {
        var writer = try AudioFileWriter(path: path, format: format, coding: coding)
        try writer.write([Float](repeating: 0, count: 960 * format.channelCount).span)
        return nil
    } catch {
        return error
    }
}

@Test func aFileThatCannotBeReadIsReportedWithTheRemedy() throws {
    let folder = TemporaryFolder()
    #expect(refusal(toRead: folder.file("no.wav"))?.reason == .notFound)
    #expect(refusal(toRead: folder.path)?.reason == .isDirectory)
    #expect(refusal(toRead: folder.file("empty.wav", of: []))?.reason == .isEmpty)
    let text = try #require(refusal(toRead: folder.file("words.txt", of: text("This is no sound at all, only words."))))
    #expect(text.description.contains("words.txt is not a sound file that can be read (WAV, AIFF, FLAC, Ogg"))
    let missing = try #require(refusal(toRead: "/no/such.wav"))
    #expect(missing.description == "/no/such.wav does not exist; check the spelling, or give - for standard input")
    let pipe = Pipe()
    do {
        _ = try AudioFileReader(fileDescriptor: pipe.output, name: "standard input")
        Issue.record("empty input was accepted")
    } catch {
        #expect(error.reason == .isEmpty)
    }
}

/// Despite SF_FALSE, libsndfile 1.2.0 closes a descriptor that it cannot read. When it is closed again, its number may
/// belong to another file.
@Test func aDescriptorThatIsNotSoundStaysItsOwners() throws {
    let file = wav(channelCount: 0, little(0, 2))
    let descriptor = namelessFile(file)
    defer { close(descriptor) }
    #expect(throws: AudioFileError.self) { _ = try AudioFileReader(fileDescriptor: descriptor, name: "damaged") }
    #expect(lseek(descriptor, 0, SEEK_SET) == 0)
    #expect(readAll(from: descriptor) == file)
}

@Test func anAbsurdHeaderIsRefused() {
    let folder = TemporaryFolder()
    let cases: [([UInt8], AudioFileError.Reason)] = [
        (wav(channelCount: 9, little(0, 18)), .unsupportedChannelCount(9)),
        (wav(hertz: 900, little(0, 2)), .unsupportedRate(900)),
        (wav(hertz: 800_000, little(0, 2)), .unsupportedRate(800_000)),
    ]
    for (file, reason) in cases {
        #expect(refusal(toRead: folder.file("a.wav", of: file))?.reason == reason)
        let pipe = Pipe(file)
        #expect(throws: AudioFileError(reason, name: "pipe")) {
            _ = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
        }
    }
    #expect(refusal(toRead: folder.file("a.wav", of: wav(channelCount: 0, little(0, 2)))) != nil)
    let pipe = Pipe(wav(channelCount: 0, little(0, 2)))
    #expect(throws: AudioFileError(.unsupportedChannelCount(0), name: "pipe")) {
        _ = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    }
    let raw = RawFormat(format: LPCMFormat(channelCount: 9))
    #expect(refusal(toRead: folder.file("a.raw", of: [1, 2]), rawFormat: raw)?.reason == .unsupportedChannelCount(9))
}

@Test func aFileThatCannotBeWrittenIsReportedWithTheRemedy() {
    let folder = TemporaryFolder()
    #expect(refusal(toWrite: folder.path)?.reason == .isDirectory)
    #expect(refusal(toWrite: folder.file("no/such/folder.wav"))?.reason == .noSuchDirectory)
    #expect(refusal(toWrite: "/dev/full")?.reason == .diskIsFull)
    #expect(
        refusal(toWrite: folder.file("a"), format: LPCMFormat(channelCount: 9))?.reason == .unsupportedChannelCount(9))
    #expect(refusal(toWrite: folder.file("song.v2.MP3"))?.reason == .namedAsAnother("mp3"))
    #expect(refusal(toWrite: folder.file("mp3"))?.reason == nil && refusal(toWrite: folder.file("a.mp3.wav")) == nil)
    #expect(refusal(toWrite: folder.file("a"), coding: .signed24)?.reason == .unsupportedCoding(.signed24))
    #expect(unsafe access(folder.file("a"), F_OK) != 0, "no file is created for an unsupported format")
}

@Test func aFileThatMayNotBeOpenedIsReported() async {
    // Permissions do not restrict root, so the process drops its privileges first.
    await #expect(processExitsWith: .success) {
        let folder = TemporaryFolder()
        let path = folder.file("secret.wav", of: wav(little(0, 2)))
        #expect(unsafe chmod(path, 0) == 0)
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        if geteuid() == 0 { #expect(seteuid(65_534) == 0) }
        #expect(refusal(toRead: path)?.reason == .notPermitted)
        #expect(refusal(toWrite: folder.file("new.wav"))?.reason == .notPermitted)
        if getuid() == 0 { #expect(seteuid(0) == 0) }
    }
}

@Test func aFileThatCanGrowNoMoreEndsWhereItPlays() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("large.wav")
    await #expect(processExitsWith: .success) { [path = path as String] in
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 10_000, rlim_max: 10_000)
        #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        var writer = try AudioFileWriter(path: path, format: .mono)
        var reason: AudioFileError.Reason?
        for _ in 0..<10 where reason == nil {
            do throws(AudioFileError) {
                try writer.write([Float](repeating: 0.25, count: 960).span)
            } catch {
                reason = error.reason
            }
        }
        #expect(reason == .isTooLong)
        #expect(writer.frameCount == FrameCount(5 * 960))
    }
    var reader = try AudioFileReader(path: path)
    #expect(try reader.all() == [Float](repeating: 0.25, count: 5 * 960))
}

@Test func aPipeWhoseReaderHasEndedIsReported() async {
    await #expect(processExitsWith: .success) {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        #expect(throws: AudioFileError(.readerIsGone, name: "pipe")) {
            var writer = try AudioFileWriter(fileDescriptor: ends[1], name: "pipe", format: .mono)
            try writer.write(([0] as [Float]).span)
        }
    }
}

@Test func nothingStaysOpenBehindAnErrorOrAnEnd() async {
    await #expect(processExitsWith: .success) {
        // Counts files and pipes only, because the Swift runtime may open timer descriptors of its own.
        func openCount() -> Int {
            (0..<256 as Range<Int32>).filter {
                var status = stat()
                return unsafe fstat($0, &status) == 0 && [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT)
            }.count
        }
        let folder = TemporaryFolder()
        let good = folder.file("good.wav", of: wav(little(0, 200)))
        let paths = [
            good, folder.file("flac", of: flac), folder.file("words", of: text("only words, and no sound")),
            folder.file("absurd.wav", of: wav(channelCount: 9, little(0, 18))),
        ]
        let before = openCount()
        for path in paths {
            _ = refusal(toRead: path)
            let pipe = Pipe(bytes(ofFile: path))
            _ = try? AudioFileReader(fileDescriptor: pipe.output, name: "pipe").format
            _ = refusal(toRead: "/dev/fd/\(pipe.output)")
        }
        _ = refusal(toWrite: folder.file("new.wav"))
        _ = refusal(toWrite: "/dev/full")
        var writer = try AudioFileWriter(path: folder.file("new.wav"), format: .mono)
        try writer.close()
        #expect(openCount() == before)
    }
}
