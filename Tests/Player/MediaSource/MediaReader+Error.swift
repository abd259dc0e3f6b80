import TenfourMediaSource
import TestSupport

extension MediaReader {
    /// Reads up to the end, and returns the audio with the error that followed it; nil if there was none.
    func readToError() -> (samples: [Float], error: ReaderError?) {
        var samples: [Float] = []
        do throws(ReaderError) {
            while case let piece = try readSome(4_096), !piece.isEmpty { samples += piece }
        } catch { return (samples, error) }
        return (samples, nil)
    }
}
