import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourSeededRandom
import Testing

private func delayed(_ milliseconds: Int) -> Trace.Entry { .delayed(.milliseconds(milliseconds)) }

struct TraceTests {
    @Test func eachPacketTakesTheNextEntryAndTheTraceBeginsAgain() {
        let trace = Trace(packets: [delayed(5), .lost, delayed(9)])
        let found = fates(NetworkModel(trace: trace), count: 7)
        #expect(found.map(\.firstDelivery).map { $0 != nil } == [true, false, true, true, false, true, true])
        #expect(found[1] == .lost(.trace))
        #expect(delays(found) == [5, 9, 5, 9, 5])
    }

    @Test func aSlotHoldsForEveryPacketSentInIt() {
        let trace = Trace(slots: [delayed(5), .lost, delayed(9)], of: .milliseconds(20))
        var link = EmulatedLink(NetworkModel(trace: trace), seed: 1, beginning: .start)
        let wanted: [Int?] = [5, 5, nil, nil, 9, 9, 5, 5, nil]
        for (index, wanted) in wanted.enumerated() {
            let now = Instant.start + .milliseconds(10) * index
            #expect(link.fate(ofPacket: 80, at: now).firstDelivery == wanted.map { now + .milliseconds($0) })
        }
    }

    @Test func aTimedTraceHoldsFromEachTimeToTheNext() throws {
        let trace = try Trace(parsing: "t_ms,delay_ms\n1000,5\n1030,lost\n1100,9")
        var link = EmulatedLink(NetworkModel(trace: trace), seed: 1, beginning: .start)
        // The last entry lasts as long as the previous one, so the trace repeats after 170 ms.
        for (time, wanted) in [(0, 5), (29, 5), (30, nil), (99, nil), (100, 9), (169, 9), (170, 5), (200, nil)] {
            let now = Instant.start + .milliseconds(time)
            #expect(link.fate(ofPacket: 80, at: now).firstDelivery == wanted.map { now + .milliseconds($0) })
        }
    }

    @Test func theTraceComesOnTopOfTheModel() {
        let network = NetworkModel(delay: .milliseconds(40), trace: Trace(packets: [delayed(5)]))
        #expect(Set(delays(fates(network))) == [45])
    }

    @Test func aTraceIsReadAsPeopleWriteIt() throws {
        let text = "# measured\r\n\r\n  delay_ms \r\n 12.5 # slow\r\nLOST\n0\n\n0.000001"
        #expect(
            try Trace(parsing: text)
                == Trace(packets: [
                    .delayed(.microseconds(12_500)), .lost, .delayed(.zero), .delayed(.nanoseconds(1)),
                ]))
        #expect(try Trace(parsing: "7") == Trace(packets: [delayed(7)]))
        #expect(
            try Trace(parsing: "0,7\n20,lost\n40,8")
                == Trace(slots: [delayed(7), .lost, delayed(8)], of: .milliseconds(20)))
    }

    @Test func aWrongLineIsNamed() {
        for (text, line, reason) in [
            ("", 1, .empty), ("# nothing\ndelay_ms\n", 3, .empty), ("1\n2\nquick\n", 3, .delay("quick")),
            ("1\n-1", 2, .delay("-1")), ("nan", 1, .delay("nan")), ("3600001", 1, .delay("3600001")),
            ("1\n0,1", 2, .columns(2)), ("0,1\n1", 2, .columns(1)), ("1,2,3", 1, .columns(3)),
            ("0,1\nx,2", 2, .time("x")), ("0,1\n\n0,2", 3, .timeNotLater("0")), ("1\ndelay_ms", 2, .delay("delay_ms")),
        ] as [(String, Int, TraceError.Reason)] {
            #expect(throws: TraceError(line: line, reason: reason)) { try Trace(parsing: text) }
        }
    }

    @Test func anErrorIsASentenceWithoutControlCharacters() {
        #expect(
            "\(TraceError(line: 3, reason: .delay("qu\u{1B}[2Jick")))"
                == "trace line 3: “qu\u{FFFD}[2Jick” is not a delay: write milliseconds from 0 to 3600000, or the word “lost”"
        )
    }

    @Test(arguments: NamedNetwork.all) func aNetworkWrittenOutAsATraceDoesTheSame(network: NamedNetwork) throws {
        let trace = Trace(of: network.model, seed: 11, count: 3000)
        let read = try Trace(parsing: trace.text)
        #expect(read == trace)
        let original = fates(network.model, seed: 11).map(\.firstDelivery)
        #expect(fates(NetworkModel(trace: read), seed: 5).map(\.firstDelivery) == original)
    }

    @Test func aTraceByPacketsIsWrittenAndReadBack() throws {
        let trace = Trace(packets: [.lost, .delayed(.nanoseconds(123_456_789)), delayed(3_600_000), .delayed(.zero)])
        #expect(trace.text.hasSuffix("delay_ms\nlost\n123.456789\n3600000\n0\n"))
        #expect(try Trace(parsing: trace.text) == trace)
    }

    @Test func mutatedTextNeverTraps() {
        let originals = ["t_ms,delay_ms\n0,12.5\n20,lost\n40,7e1 # x\n", "delay_ms\r\n12.5\r\nlost\r\n"].map {
            Array($0.utf8)
        }
        let splices = ["\u{0}", "9999999999", "e308", "nan", "-", ",", "\r", "\u{2028}", "é", "#", "inf", "0x1p9"].map {
            Array($0.utf8)
        }
        var generator = SeededRandom(seed: 6)
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = originals[Int(generator.next() % 2)]
            for _ in 0...generator.next() % 4 where !bytes.isEmpty {
                let place = Int(generator.next() % UInt64(bytes.count))
                switch generator.next() % 4 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: splices[Int(generator.next() % UInt64(splices.count))], at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            do {
                let trace = try Trace(parsing: String(decoding: bytes, as: UTF8.self))
                _ = fates(NetworkModel(trace: trace), count: 5)
            } catch {
                #expect(error.line >= 1 && !error.description.isEmpty)
                refused += 1
            }
        }
        #expect((1000..<19_000).contains(refused))
    }
}
