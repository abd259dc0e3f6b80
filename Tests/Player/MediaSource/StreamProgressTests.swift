import TenfourMediaSource
import Testing

struct StreamProgressTests {
    private func progress(at position: Double, of duration: Double, isExact: Bool) -> StreamProgress {
        var progress = StreamProgress()
        progress.position = Estimate(.seconds(position), isExact: true)
        progress.duration = Estimate(.seconds(duration), isExact: isExact)
        progress.limitPosition()
        return progress
    }

    @Test func thePositionIsNeverBehindTheEnd() {
        #expect(progress(at: 10.2, of: 10, isExact: true).position.value == .seconds(10))
        #expect(progress(at: 9, of: 10, isExact: true).position.value == .seconds(9))
        // An estimate that was too short.
        let late = progress(at: 10.2, of: 10, isExact: false)
        #expect(late.position.value == .seconds(10.2) && late.duration?.value == .seconds(10.2))
    }
}
