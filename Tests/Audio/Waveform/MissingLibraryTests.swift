import TestSupport
import Testing

@testable import TenfourWaveform

@Suite struct MissingLibraryTests {
    @Test func withoutCairoThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libcairo", package: "libcairo2") { _ = try openCairo($0) }
    }
}
