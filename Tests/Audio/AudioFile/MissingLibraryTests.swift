import Testing

@testable import TenfourAudioFile

@Suite struct MissingLibraryTests {
    @Test(arguments: ["libsndfile.so.0", "libc.so.6"])
    func withoutLibsndfileThereIsASentenceThatBringsIt(_ file: String) {
        do throws(MissingSndFile) {
            _ = try openSndFile(file)
            Issue.record("\(file) was taken for libsndfile")
        } catch {
            let sentence = AudioFileError(.libraryIsMissing(error.words), name: "song.flac").description
            #expect(sentence.contains("apt-get install libsndfile1") && sentence.contains(file))
        }
    }
}
