import Glibc
import TenfourVoiceProcessing
import Testing

@Suite struct ResidualEchoGateTests {
    /// After a short sound of the loudspeaker, somebody talks alone. The echo's power is remembered for a while, and must
    /// not attenuate the talker.
    @Test func aTalkerIsPassedUnchangedSoonAfterAnEcho() {
        var gate = ResidualEchoGate()
        let length = EchoCanceller.blockLength
        func tone(_ block: Int, _ amplitude: Float) -> [Float] {
            (0..<length).map { amplitude * sinf(0.12 * Float(block * length + $0)) }
        }
        let silence = [Float](repeating: 0, count: length)
        var gains: [Float] = []
        for block in 0..<100 {
            var rest = tone(block, 0.1)
            let before = rest.map { $0 * $0 }.reduce(0, +)
            let echo = block < 20 ? tone(block, 0.05) : silence
            var room = rest.mutableSpan
            gate.process(&room, echo: echo.span)
            gains.append(sqrtf(rest.map { $0 * $0 }.reduce(0, +) / before))
        }
        // 400 ms after the end of the echo.
        #expect(gains[60...].allSatisfy { $0 > 0.9 }, "\(gains[60...].min() ?? 0)")
    }
}
