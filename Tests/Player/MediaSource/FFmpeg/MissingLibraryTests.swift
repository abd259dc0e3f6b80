#if FFmpeg
    @testable import TenfourMediaSource
    import TestSupport
    import Testing

    @Suite struct MissingLibraryTests {
        @Test func withoutFFmpegThereIsASentenceThatBringsIt() {
            expectMissingLibrary("libavformat", package: "libavformat") { file in
                do throws(ReaderError) { _ = try openFFmpeg(file) } catch {
                    #expect("\(error)".contains("another version of FFmpeg, rebuild tenfour against that version"))
                    throw error
                }
            }
        }
    }
#endif
