import CFileSyncs
import Glibc
import TenfourAudioCore
import TenfourAudioFile
import Testing

@Test func aKilledWriterLeavesAFileThatPlays() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("killed.wav")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let sound = [Float](repeating: 0.25, count: 960)
        var writer = try AudioFileWriter(path: path, format: .mono)
        for _ in 0..<70 { try writer.write(sound.span) }
        kill(getpid(), SIGKILL)
    }
    var reader = try AudioFileReader(path: path)
    #expect(reader.frameCount == FrameCount(70 * 960))
    #expect(try reader.all() == [Float](repeating: 0.25, count: 70 * 960))
}

@Test func theFileIsTrueAfterEveryWrite() throws {
    let folder = TemporaryFolder()
    var writer = try AudioFileWriter(path: folder.file("a.wav"), format: .mono, coding: .float32)
    for count in 0..<5 {
        var reader = try AudioFileReader(path: folder.file("a.wav"))
        #expect(try reader.all() == [Float](repeating: 0.1, count: 100 * count))
        try writer.write([Float](repeating: 0.1, count: 100).span)
    }
}

@Test func aFileIsReplacedOnlyWhenAudioArrives() throws {
    let folder = TemporaryFolder()
    let (old, new) = (folder.file("old.wav", of: [1, 2, 3]), folder.file("new.wav"))
    for path in [old, new] {
        var writer = try AudioFileWriter(path: path, format: .mono, createsOnFirstWrite: true)
        try writer.close()
    }
    #expect(bytes(ofFile: old) == [1, 2, 3])
    let isThere = unsafe access(new, F_OK) == 0
    #expect(!isThere)

    var writer = try AudioFileWriter(
        path: old, format: LPCMFormat(rate: SampleRate(hertz: 16_000)), createsOnFirstWrite: true)
    #expect(bytes(ofFile: old) == [1, 2, 3])
    try writer.write(([0.5] as [Float]).span)
    try writer.close()
    #expect(bytes(ofFile: old) == wav(hertz: 16_000, little(0x4000, 2)))
}

/// A writer that waits for a reader can be told to give up.
@Test(.timeLimit(.minutes(30))) func aReaderWhoDoesNotReadIsGivenUp() throws {
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let second = [Float](repeating: 0.25, count: 48_000)
    var waits = 0
    let error = #expect(throws: AudioFileError.self) {
        var writer = try AudioFileWriter(fileDescriptor: ends[1], name: "pipe", format: .mono)
        while true {
            try writer.write(
                second.span,
                unless: {
                    waits += 1
                    return waits == 2
                })
        }
    }
    #expect(error?.reason == .readerIsStuck && waits == 2)
}

@Test func aFileIsWhatItsBytesAre() throws {
    let folder = TemporaryFolder()
    var writer = try AudioFileWriter(path: folder.file("a.wav"), format: LPCMFormat(rate: SampleRate(hertz: 16_000)))
    try writer.write(([0.5, -0.5] as [Float]).span)
    try writer.close()
    try writer.close()
    #expect(bytes(ofFile: folder.file("a.wav")) == wav(hertz: 16_000, little(0x4000, 2) + little(-0x4000, 2)))
}

@Test func anOddChunkIsPadded() throws {
    let folder = TemporaryFolder()
    for isClosed in [true, false] {
        do {
            var writer = try AudioFileWriter(path: folder.file("a.wav"), format: .mono, coding: .unsigned8)
            try writer.write(([0.5] as [Float]).span)
            if isClosed { try writer.close() }
        }
        let file = bytes(ofFile: folder.file("a.wav"))
        #expect(file.count == 46)
        #expect(Array(file[4..<8]) == little(38, 4))
        #expect(Array(file[40..<46]) == little(1, 4) + [192, 0])
    }
}

@Test func soundBeyondFullScaleIsClippedAndNotTurnedOver() throws {
    let folder = TemporaryFolder()
    for coding in [SampleCoding.unsigned8, .signed16, .packedSigned24, .signed32] {
        var writer = try AudioFileWriter(path: folder.file("a.wav"), format: .mono, coding: coding)
        try writer.write(([1, 1.5, .infinity, -1.5, -.infinity, .nan] as [Float]).span)
        var reader = try AudioFileReader(path: folder.file("a.wav"))
        let sound = try reader.all()
        #expect(sound[..<3].allSatisfy { $0 > 0.99 && $0 <= 1 })
        #expect(sound[3..<5].allSatisfy { $0 == -1 })
        #expect(sound[5] == 0)
    }
}

@Test func rawSamplesGoOutWithoutAHeaderAndWAVWithAnEndlessOne() throws {
    for (container, header) in [(AudioFileWriter.Container.raw, [UInt8]()), (.wav, wav(size: 0xFFFF_FFFF, []))] {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        var writer = try AudioFileWriter(fileDescriptor: ends[1], name: "pipe", format: .mono, container: container)
        try writer.write(([0.5, -0.5] as [Float]).span)
        try writer.close()
        close(ends[1])
        #expect(readAll(from: ends[0]) == header + little(0x4000, 2) + little(-0x4000, 2))
        close(ends[0])
    }
}

@Test func everyRawCodingComesBack() throws {
    let sound = tone(2_000)
    for coding in SampleCoding.allCases {
        let file = namelessFile()
        defer { close(file) }
        var writer = try AudioFileWriter(fileDescriptor: file, name: "nameless", format: .mono, coding: coding)
        try writer.write(sound.span)
        #expect(lseek(file, 0, SEEK_SET) == 0)
        var reader = try AudioFileReader(
            fileDescriptor: file, name: "nameless", rawFormat: RawFormat(coding: coding))
        #expect(largestDifference(try reader.all(), sound) <= (coding.byteCount == 1 ? 0.004 : 0.000_016))
    }
}

@Test func aWAVAppendedToAFileHasAnEndlessHeader() throws {
    let folder = TemporaryFolder()
    let descriptor = unsafe open(folder.file("a"), O_WRONLY | O_CREAT | O_APPEND, 0o644)
    var writer = try AudioFileWriter(fileDescriptor: descriptor, name: "a", format: .mono, container: .wav)
    try writer.write(([0.5] as [Float]).span)
    close(descriptor)
    #expect(bytes(ofFile: folder.file("a")) == wav(size: 0xFFFF_FFFF, little(0x4000, 2)))
}

/// After a power cut the header may be newer than the samples.
@Test func aFileThatIsShorterThanItsHeaderStatesPlays() throws {
    let folder = TemporaryFolder()
    let path = folder.file("cut.wav")
    var writer = try AudioFileWriter(path: path, format: .mono)
    try writer.write([Float](repeating: 0.25, count: 9_600).span)
    try writer.synchronize()
    let isCut = unsafe truncate(path, 44 + 2 * 4_096) == 0
    try #require(isCut)
    var reader = try AudioFileReader(path: path)
    #expect(try reader.all() == [Float](repeating: 0.25, count: 4_096))
}

/// A file that exists has its name on the disk already.
@Test func aNewFileAndItsNameAreBroughtToTheDisk() throws {
    let folder = TemporaryFolder()
    for (path, count) in [(folder.file("new.wav"), UInt(2)), (folder.file("old.wav", of: [1]), 1)] {
        let before = syncs_of_this_thread()
        var writer = try AudioFileWriter(path: path, format: .mono, createsOnFirstWrite: true)
        try writer.synchronize()
        #expect(syncs_of_this_thread() == before, "nothing is written yet")
        try writer.write([0.5, 0.5].span)
        try writer.close()
        #expect(syncs_of_this_thread() - before == count)
    }
}

@Test func whatIsNoFileOnADiskIsNoError() throws {
    var ends: [Int32] = [0, 0]
    unsafe #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    for path in ["/dev/null", "/dev/fd/\(ends[1])"] {
        var writer = try AudioFileWriter(path: path, format: .mono)
        try writer.write([0.5, 0.5].span)
        try writer.synchronize()
        try writer.close()
    }
}

@Test(arguments: [EINVAL, EROFS, ENOTSUP, EIO]) func onlyADiskThatFailsIsAnError(code: Int32) throws {
    let folder = TemporaryFolder()
    var writer = try AudioFileWriter(path: folder.file("a.wav"), format: .mono)
    fail_syncs_of_this_thread(code)
    defer { fail_syncs_of_this_thread(0) }
    do throws(AudioFileError) {
        try writer.close()
        #expect(code != EIO)
    } catch {
        #expect(code == EIO && error.reason == .failed(call: "fsync", code: EIO))
    }
}
