import TestSupport
import Testing

@testable import TenfourHTTPServer

@Suite struct MissingLibraryTests {
    @Test func withoutMicroHTTPDThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libmicrohttpd", package: "libmicrohttpd12") { _ = try openMicroHTTPD($0) }
    }
}
