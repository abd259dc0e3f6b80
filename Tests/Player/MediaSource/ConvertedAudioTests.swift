import TenfourAudioCore
import TenfourMediaSource
import Testing

@Suite struct ConvertedAudioTests {
    private let sound = ConvertedAudio(.mono)

    /// Reads a tenth of a second at once.
    private func readSome() throws(ReaderError) {
        var room = [Float](repeating: 0, count: 4_800)
        var span = room.mutableSpan
        _ = try sound.read(into: &span) { () throws(ReaderError) in
            sound.fill(upTo: 4_800) { $0.count }
        }
    }

    @Test func missingFramesAreSkipped() throws {
        #expect(sound.place(0, 4_800, at: .opus) == 0)
        try readSome()
        #expect(sound.position == .milliseconds(100))
        #expect(sound.place(9_600, 4_800, at: .opus) == 0)
        #expect(sound.position == .milliseconds(200))
    }

    @Test func framesBeforeTheRequestedOneAreSkipped() {
        sound.firstRequested = 7_200
        #expect(sound.place(0, 4_800, at: .opus) >= 4_800)
        #expect(sound.place(4_800, 4_800, at: .opus) == 2_400)
        #expect(sound.position == .milliseconds(150))
    }

    @Test func anotherRateInTheMiddleLeavesThePositionAsItIs() throws {
        _ = sound.place(0, 4_800, at: .opus)
        try readSome()
        sound.nextFrame = nil
        _ = sound.place(2_205, 2_205, at: SampleRate(hertz: 22_050))
        #expect(sound.position == .milliseconds(100))
        try readSome()
        #expect(sound.position == .milliseconds(200))
    }
}
