import TestSupport
import Testing

@testable import TenfourHTTPSource

@Suite struct MissingLibraryTests {
    @Test func withoutLibcurlThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libcurl", package: "libcurl4") { _ = try openCurl($0) }
    }

    /// Debian 12, Ubuntu 22.04 and 23.04; then Ubuntu 24.04, Debian 13 and later releases.
    @Test(arguments: [
        ("glibc 2.36", "libcurl4"), ("glibc 2.35", "libcurl4"), ("glibc 2.37", "libcurl4"),
        ("glibc 2.39", "libcurl4t64"), ("glibc 2.41", "libcurl4t64"), ("glibc 3.0", "libcurl4t64"),
    ])
    func thePackageIsThatOfTheRelease(libc: String, package: String) {
        #expect(curlPackage(libc: libc) == package)
    }
}
