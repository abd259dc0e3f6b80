import TestSupport
import Testing

@testable import TenfourAudioFile

@Suite struct MissingLibraryTests {
    @Test func withoutLibsndfileThereIsASentenceThatBringsIt() {
        expectMissingLibrary("libsndfile", package: "libsndfile1") { file in
            do throws(MissingSndFile) { _ = try openSndFile(file) } catch {
                throw AudioFileError(.libraryIsMissing(error.words), name: "song.flac")
            }
        }
    }
}
