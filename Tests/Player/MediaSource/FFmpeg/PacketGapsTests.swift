#if FFmpeg
    import TestSupport
    import Testing

    @testable import TenfourMediaSource

    /// The offsets and durations of the packets of a damaged file may be any numbers.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct PacketGapsTests {
        private static func add(
            _ gaps: inout PacketGaps, offset: Int64, begin: Int64, duration: Int64
        ) -> PacketGaps.Hole? {
            gaps.add(
                offset: offset, begin: begin, duration: duration, isMarked: false, shortest: 12_000, patience: 144_000,
                needsBytes: true)
        }

        @Test func aHoleIsFoundAfterDurationsOfAnyLength() {
            for long in [1 << 62, Int64.max, Int64.min, 960] {
                var gaps = PacketGaps()
                for index in 0..<5 as Range<Int64> {
                    #expect(Self.add(&gaps, offset: index * 100, begin: 0, duration: long) == nil)
                }
                gaps.restart()
                for index in 0..<5 as Range<Int64> {
                    #expect(Self.add(&gaps, offset: index * 100, begin: index * 960, duration: 960) == nil)
                }
                let hole = Self.add(&gaps, offset: 400 + 100 * 100, begin: 104 * 960, duration: 960)
                #expect(hole?.begin == 5 * 960 && hole?.length == 99 * 960, "\(long)")
            }
        }

        @Test func offsetsMayBeAnyNumbers() {
            for far in [1 << 62, Int64.max, Int64.min] {
                var gaps = PacketGaps()
                for begin in 0..<4 as Range<Int64> {
                    #expect(Self.add(&gaps, offset: 0, begin: begin * 960, duration: 960) == nil)
                    #expect(Self.add(&gaps, offset: far, begin: begin * 960, duration: 960) == nil)
                    gaps.restart()
                }
            }
        }

        @Test func aPacketOfAnIndexMayLieAnywhere() {
            #expect(FFmpegDemuxer.isPacket(at: .max - 10, 100, beyond: 1_000))
            #expect(FFmpegDemuxer.isPacket(at: 901, 100, beyond: 1_000))
            #expect(!FFmpegDemuxer.isPacket(at: 900, 100, beyond: 1_000))
            #expect(!FFmpegDemuxer.isPacket(at: .min, 1 << 30, beyond: 0))
        }
    }
#endif
