import Glibc
import TenfourAudioCore
import TenfourAudioFile
import Testing

/// The sizes that arecord, sox and ffmpeg write for an unknown length, and zero.
@Test(.timeLimit(.minutes(30)), arguments: [0x8000_0000, 0x7FFF_FF00, 0x7FFF_F000, 0xFFFF_FFFF, 0])
func aLiveWAVIsHeardAsItComes(size: Int) throws {
    let sound = (0..<960).flatMap { little($0, 2) }
    let pipe = Pipe(wav(size: size, sound), open: true)
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    // Reads only the available frames: a read of more would block forever.
    #expect(try reader.frames(960).count == 960)
    pipe.send(Array(sound[..<960]))
    #expect(try reader.frames(480).count == 480)
}

@Test(.timeLimit(.minutes(30))) func liveRawSamplesAreHeardAsTheyCome() throws {
    let pipe = Pipe(little(0x4000, 2) + little(0x2000, 2) + little(0, 8), open: true)
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.frames(2) == [0.5, 0.25])
    #expect(try reader.frames(4) == [0, 0, 0, 0])
    pipe.send(little(0x1000, 2))
    #expect(try reader.frames(1) == [0.125])
}

@Test func aFewSamplesAreSoundToo() throws {
    let pipe = Pipe(little(0x4000, 2) + [1])
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.all() == [0.5], "half a frame at the end is dropped")
}

@Test func chunksAfterTheSamplesAreNotPlayed() throws {
    let pipe = Pipe(wav(little(0x4000, 2)) + text("LIST") + little(4, 4) + text("INFO"))
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.all() == [0.5])
}

@Test func chunksBeforeTheSamplesAreNotPlayed() throws {
    let list = text("LIST") + little(3, 4) + text("abc") + [0]
    let pipe = Pipe(wav(beforeData: list, little(0x4000, 2)))
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.all() == [0.5])
}

@Test func samplesOfManyKindsAreFoundBehindAWAVHeader() throws {
    // Returns the rest of an extensible header: 18 more bytes, then the tag of the samples and the rest of its GUID.
    func extensible(_ tag: Int, _ validBits: Int) -> [UInt8] {
        little(22, 2) + little(validBits, 2) + little(0, 4) + little(tag, 2) + [UInt8](repeating: 0, count: 14)
    }
    let cases: [[UInt8]] = [
        wav(bits: 8, [192]),
        wav(bits: 24, little(0x40_0000, 3)),
        wav(bits: 32, little(0x4000_0000, 4)),
        wav(tag: 3, bits: 32, little(0x3F00_0000, 4)),
        wav(tag: 0xFFFE, bits: 16, extra: extensible(1, 16), little(0x4000, 2)),
        wav(tag: 0xFFFE, bits: 32, extra: extensible(1, 24), little(0x4000_0000, 4)),
        wav(tag: 0xFFFE, bits: 32, extra: extensible(3, 32), little(0x3F00_0000, 4)),
        // The format of `arecord -f S24_LE`: 24 bits in the low part of four bytes.
        wav(bits: 24, containerByteCount: 4, little(0x40_0000, 4)),
    ]
    for file in cases {
        let pipe = Pipe(file)
        var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
        #expect(try reader.all() == [0.5])
    }
    for file in [wav(tag: 2, bits: 4, containerByteCount: 1, [0]), wav(tag: 3, bits: 64, little(0, 8))] {
        let pipe = Pipe(file)
        #expect(throws: AudioFileError.self) { _ = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe") }
    }
}

@Test func anRF64PipeEndsWhereItsLongSizeSays() throws {
    var file = wav(size: 0xFFFF_FFFF, little(0x4000, 2) + little(0x2000, 2))
    file.replaceSubrange(0..<4, with: text("RF64"))
    file.insert(
        contentsOf: text("ds64") + little(28, 4) + little(0, 8) + little(2, 8) + little(1, 8) + little(0, 4), at: 12)
    let pipe = Pipe(file)
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.all() == [0.5])
}

@Test(.timeLimit(.minutes(30))) func aPipeThatDoesNotWaitIsWaitedFor() throws {
    let pipe = Pipe(little(0x4000, 2), open: true)
    _ = fcntl(pipe.output, F_SETFL, O_NONBLOCK)
    pipe.send(little(0x2000, 2) + little(0, 8))
    var reader = try AudioFileReader(fileDescriptor: pipe.output, name: "pipe")
    #expect(try reader.frames(2) == [0.5, 0.25])
}

@Test func aNamedPipeIsReadLikeAPipe() throws {
    let folder = TemporaryFolder()
    let path = folder.file("fifo")
    #expect(unsafe mkfifo(path, 0o600) == 0)
    // Opened for both directions, so that opening does not block.
    let sender = unsafe open(path, O_RDWR)
    writeAll(wav(little(0x4000, 2)), to: sender)
    var reader = try AudioFileReader(path: path)
    close(sender)
    #expect(try reader.all() == [0.5])
}
