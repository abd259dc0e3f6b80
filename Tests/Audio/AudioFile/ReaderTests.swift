import Glibc
import TenfourAudioCore
import TenfourAudioFile
import Testing

@Test(arguments: [SampleCoding.signed16, .packedSigned24, .signed32, .float32, .unsigned8])
func aWrittenFileReadsTheSame(coding: SampleCoding) throws {
    let folder = TemporaryFolder()
    let sound = tone(5_000, in: .stereo)
    var writer = try AudioFileWriter(path: folder.file("a.wav"), format: .stereo, coding: coding)
    for start in stride(from: 0, to: sound.count, by: 400) {
        try writer.write(sound.span.extracting(start..<start + 400))
    }
    try writer.close()
    #expect(writer.frameCount == FrameCount(5_000))
    var reader = try AudioFileReader(path: folder.file("a.wav"))
    #expect(reader.format == .stereo)
    #expect(reader.frameCount == FrameCount(5_000))
    #expect(largestDifference(try reader.all(), sound) <= (coding == .unsigned8 ? 0.004 : 0.000_016))
    // Samples from a pipe are parsed by our own code, which must give the same result.
    let piped = Pipe(bytes(ofFile: folder.file("a.wav")))
    var pipeReader = try AudioFileReader(fileDescriptor: piped.output, name: "pipe")
    #expect(pipeReader.format == .stereo)
    #expect(pipeReader.frameCount == nil)
    var again = try AudioFileReader(path: folder.file("a.wav"))
    #expect(try pipeReader.all() == again.all())
}

@Test func otherKindsOfFileAreReadFromFilesAndPipes() throws {
    let folder = TemporaryFolder()
    for file in [flac, aiff((0..<160).flatMap { big($0 * 100, 2) })] {
        var reader = try AudioFileReader(path: folder.file("sound", of: file))
        #expect(reader.format == LPCMFormat(rate: SampleRate(hertz: 8_000)))
        #expect(reader.frameCount == FrameCount(160))
        let sound = try reader.all()
        #expect(sound.count == 160)
        #expect(sound.contains { abs($0) > 0.1 })
        let pipe = Pipe(file)
        var pipeReader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
        #expect(try pipeReader.all() == sound)
    }
}

/// Reads the speech recording that alsa-utils installs.
@Test(.enabled(if: unsafe access("/usr/share/sounds/alsa/Front_Center.wav", R_OK) == 0, "needs alsa-utils"))
func recordedSpeechIsRead() throws {
    var reader = try AudioFileReader(path: "/usr/share/sounds/alsa/Front_Center.wav")
    #expect(reader.format == .mono)
    let sound = try reader.all()
    #expect(FrameCount(sound.count) == reader.frameCount)
    #expect(sound.contains { abs($0) > 0.1 })
}

@Test func theEndIsReachedOnce() throws {
    let folder = TemporaryFolder()
    var reader = try AudioFileReader(path: folder.file("a.wav", of: wav(little(0x4000, 2) + little(0x2000, 2))))
    #expect(try reader.frames(1) == [0.5])
    #expect(try reader.frames(960) == [0.25])
    #expect(try reader.frames(960) == [])
    #expect(try reader.frames(960) == [])
}

@Test func aFileRedirectedToStandardInputIsReadLikeAFile() throws {
    let descriptor = namelessFile(wav(little(0x4000, 2)))
    defer { close(descriptor) }
    var reader = try AudioFileReader(fileDescriptor: descriptor, name: "standard input")
    #expect(reader.frameCount == FrameCount(1))
    #expect(try reader.all() == [0.5])
}

@Test func samplesWithoutAHeaderAreTakenAsTheyAreSaidToBe() throws {
    let cases: [(SampleCoding, [UInt8])] = [
        (.unsigned8, [192, 64]), (.signed8, [64, 192]), (.signed16, little(0x4000, 2) + little(-0x4000, 2)),
        (.packedSigned24, little(0x40_0000, 3) + little(-0x40_0000, 3)),
        // The highest byte of S24_LE is ignored.
        (.signed24, little(0x5540_0000, 4) + little(0x55C0_0000, 4)),
        (.signed32, little(0x4000_0000, 4) + little(-0x4000_0000, 4)),
        (.float32, little(0x3F00_0000, 4) + little(0xBF00_0000, 4)),
    ]
    for (coding, bytes) in cases {
        let pipe = Pipe(bytes)
        var reader = try AudioFileReader(
            fileDescriptor: pipe.output, name: "pipe", rawFormat: RawFormat(coding: coding, format: .stereo))
        #expect(try reader.all() == [0.5, -0.5], "\(coding.rawValue)")
    }
    // The same samples in a file can be read, but only with a raw format.
    let folder = TemporaryFolder()
    let path = folder.file("a.raw", of: little(0x4000, 2) + little(-0x4000, 2))
    #expect(throws: AudioFileError.self) { _ = try AudioFileReader(path: path) }
    var reader = try AudioFileReader(path: path, rawFormat: RawFormat())
    #expect(try reader.all() == [0.5, -0.5])
}

@Test func notANumberIsReadAsSilence() throws {
    let bytes = little(0x7FC0_0000, 4) + little(0x7F80_0000, 4) + little(0x3F00_0000, 4)
    let folder = TemporaryFolder()
    var reader = try AudioFileReader(path: folder.file("a.wav", of: wav(tag: 3, bits: 32, bytes)))
    #expect(try reader.all() == [0, 0, 0.5])
    let pipe = Pipe(wav(tag: 3, bits: 32, bytes))
    var pipeReader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try pipeReader.all() == [0, 0, 0.5])
}
