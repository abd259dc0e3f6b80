import Glibc
import TenfourAudioCore
import TenfourPlayer
import TenfourWaveform
import TestSupport
import Testing

@testable import tenfour

/// Waveforms in files.
@Suite(.onItsOwnThread) struct CachedWaveformTests {
    private let waveform = CachedWaveformTests.made()

    private static func made() -> WaveformProgress {
        let samples = (0..<12_345).map { Float($0 % 977) / 977 }
        var reduction = BarReduction(barCount: 50, expecting: FrameCount(12_345))
        reduction.append(samples.span)
        return WaveformProgress(
            partialBars: reduction.partialBars(of: FrameCount(12_345)), rate: SampleRate(hertz: 44_100))
    }

    private func identity(_ number: Int) -> MediaIdentity {
        MediaIdentity(address: "/music/\(number).mp3", byteCount: 1_000, modified: 5)
    }

    @Test func itIsTheSameToTheBit() {
        let bytes = CachedWaveform.bytes(of: waveform)
        #expect(CachedWaveform.waveform(of: bytes, barCount: 50) == waveform)
        #expect(CachedWaveform.waveform(of: bytes, barCount: 51) == nil)
    }

    @Test func damageIsFound() {
        let bytes = CachedWaveform.bytes(of: waveform)
        for index in bytes.indices {
            #expect(CachedWaveform.waveform(of: Array(bytes.prefix(index)), barCount: 50) == nil)
            var damaged = bytes
            damaged[index] ^= 0x40
            #expect(CachedWaveform.waveform(of: damaged, barCount: 50) == nil)
        }
    }

    @Test func itsNameTellsVersionsApartAndRevealsNothing() {
        var other = identity(1)
        other.modified = 6
        let names = [identity(1), identity(2), other].map { CachedWaveform.name(of: $0, barCount: 50) }
        #expect(Set(names).count == 3 && names.allSatisfy { $0.count == 64 })
        #expect(CachedWaveform.name(of: identity(1), barCount: 51) != names[0])
    }

    @Test func theLeastRecentlyUsedAreRemoved() {
        let folder = Folder()
        let byteCount = CachedWaveform.bytes(of: waveform).count
        for (count, bytes) in [(3, 1 << 20), (100, 3 * byteCount + 10)] {
            let place = folder("cache\(count)/waveforms")
            let cache = WaveformCache(folder: place, maximumCount: count, maximumByteCount: bytes)
            for number in 1...3 {
                cache.keep(waveform, of: identity(number), barCount: 50)
                usleep(20_000)
            }
            #expect(cache.waveform(of: identity(1), barCount: 50) == waveform)
            usleep(20_000)
            cache.keep(waveform, of: identity(4), barCount: 50)
            let kept = (1...4).filter { cache.waveform(of: identity($0), barCount: 50) != nil }
            #expect(kept == [1, 3, 4])
            var status = stat()
            let isThere = unsafe stat(place, &status) == 0
            #expect(isThere && status.st_mode & 0o777 == 0o700)
            for number in 1...4 {
                unsafe unlink("\(place)/\(CachedWaveform.name(of: identity(number), barCount: 50))")
            }
            unsafe rmdir(place)
            unsafe rmdir(folder("cache\(count)"))
        }
    }
}
