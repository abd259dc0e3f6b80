#if FFmpeg
    @testable import TenfourFFmpegSource
    import TenfourMediaSource
    import Testing

    @Suite struct MissingLibraryTests {
        @Test(arguments: ["libavformat.so.0", "libc.so.6"])
        func withoutFFmpegThereIsASentenceThatBringsIt(_ file: String) {
            do throws(ReaderError) {
                _ = try openFFmpeg(file)
                Issue.record("\(file) was taken for FFmpeg")
            } catch {
                guard case .undecodable(let sentence) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(sentence.contains("apt-get install libavformat") && sentence.contains(file))
                #expect(sentence.contains("another version of FFmpeg, rebuild tenfour against that version"))
            }
        }
    }
#endif
