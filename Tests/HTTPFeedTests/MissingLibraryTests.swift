import Feed
import Testing

@testable import HTTPFeed

@Suite struct MissingLibraryTests {
    @Test(arguments: ["libcurl.so.0", "libc.so.6"])
    func withoutLibcurlThereIsASentenceThatBringsIt(_ file: String) {
        do throws(DownloadError) {
            _ = try openCurl(file)
            Issue.record("\(file) was taken for libcurl")
        } catch {
            guard case .failed(let sentence) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(sentence.contains("apt-get install libcurl4") && sentence.contains(file))
        }
    }
}
