import Testing

@testable import TenfourWaveform

@Suite struct MissingLibraryTests {
    @Test(arguments: ["libcairo.so.0", "libc.so.6"])
    func withoutCairoThereIsASentenceThatBringsIt(_ file: String) {
        do throws(PictureError) {
            _ = try openCairo(file)
            Issue.record("\(file) was taken for cairo")
        } catch {
            #expect(error.description.contains("apt-get install libcairo2") && error.description.contains(file))
        }
    }
}
