import TestSupport
import Testing

@testable import TenfourWeb

@Suite struct MissingLibraryTests {
    @Test func withoutLibshoutThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libshout", package: "libshout3") { _ = try openShout($0) }
    }
}
