import Testing

@testable import TenfourMediaSource

/// A demuxer and a decoder record in one account what they miss.
@Suite struct MissingAudioAccountTests {
    private static func text(_ holes: [(begin: Double, length: Double, end: Double?)]) -> String {
        var missing = MissingAudio()
        for hole in holes {
            missing.addHole(
                at: .seconds(hole.begin), lasting: .seconds(hole.length), until: hole.end.map { .seconds($0) })
        }
        return String((missing.text ?? "nothing").prefix { $0 != "," })
    }

    @Test func aHoleThatDemuxerAndDecoderFindIsOne() {
        #expect(Self.text([(5, 2, nil), (4.9, 2.1, nil)]) == "about 2.1 s from 4.9 s on are missing")
        #expect(Self.text([(5, 2, nil), (6.5, 1, nil)]) == "about 2.5 s from 5.0 s on are missing")
        #expect(Self.text([(5, 2, nil), (7.1, 1, nil)]) == "about 3.0 s from 5.0 s on are missing")
        #expect(Self.text([(5, 2, nil), (8, 1, nil)]) == "about 3.0 s in 2 places")
        // Positions that do not count the hole.
        #expect(Self.text([(5, 2, 5), (6, 2, 6)]) == "about 4.0 s in 2 places")
        #expect(Self.text([(5, 2, 5), (5, 0.1, nil)]) == "about 2.1 s from 5.0 s on are missing")
    }

    @Test func shortHolesAreNamedWhereTheyAreMany() {
        #expect(Self.text((0..<9).map { (Double($0), 0.1, nil) }) == "nothing")
        #expect(Self.text((0..<11).map { (Double($0), 0.1, nil) }) == "about 1.1 s in 11 places")
        #expect(Self.text([(0, 0.1, nil), (1, 0.3, nil)]) == "about 0.4 s in 2 places")
        #expect(Self.text([(0, -3, nil), (1, 0, nil)]) == "nothing")
    }
}
