import TestSupport
import Testing

@testable import TenfourNATS

@Suite struct MissingLibraryTests {
    @Test func withoutLibnatsThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libnats", package: "libnats3.4") { _ = try openNATS([$0]) }
    }
}
