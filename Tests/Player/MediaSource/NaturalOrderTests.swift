import TenfourMediaSource
import Testing

struct NaturalOrderTests {
    private func sorted(_ names: [String]) -> [String] { names.map { NaturalOrder($0) }.sorted().map(\.name) }

    @Test func numbersAreSortedByTheirValue() {
        let tracks = sorted(["Track 10", "Track 2", "track 1", "Track 02b"])
        #expect(tracks == ["track 1", "Track 2", "Track 02b", "Track 10"])
        #expect(sorted(["9", "10", "0", "007", "8"]) == ["0", "007", "8", "9", "10"])
        let long = String(repeating: "9", count: 40)
        #expect(sorted(["1" + long, long]) == [long, "1" + long], "numbers of any length")
    }

    @Test func caseDoesNotMatterAndTheOrderIsAlwaysTheSame() {
        #expect(sorted(["b", "A", "B", "a", "Ä", "ä"]) == ["A", "a", "B", "b", "Ä", "ä"])
        #expect(sorted(["a01", "a1", "a001"]) == ["a001", "a01", "a1"])
        #expect(sorted(["", "a", " "]) == ["", " ", "a"])
    }

    @Test func aNumberComesWhereItsDigitsCome() {
        #expect(sorted(["a", "1", "-", "_"]) == ["-", "1", "_", "a"])
        #expect(sorted(["1.flac", "1 b.flac", "10.flac"]) == ["1 b.flac", "1.flac", "10.flac"])
    }
}
