import TestSupport
import Testing

/// The tool that shows that the package needs no FFmpeg.
@Suite(.onItsOwnThread) struct WithoutFFmpegTests {
    @Test(arguments: [[], ["chekc"], ["--help-me"]]) func wrongUseIsRefused(arguments: [String]) throws {
        let run = try Program.run("bash", [Repository.path("Tools/Programs/without-ffmpeg")] + arguments)
        #expect(run.end == .code(2))
        #expect(run.errors == "without-ffmpeg: write check or play\n")
    }
}
