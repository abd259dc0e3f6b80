import Foundation
import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession
import TestSupport
import Testing

extension RealTimeTests {
    /// Sessions without a sound card.
    @Suite(.serialized) struct SessionTests {
        @Test func aFileIsHeardAtTheOtherEnd() throws {
            let folder = Folder()
            let file = try folder.sound("tone.wav", tone(440, seconds: 2))
            try expectNoFailure {
                let port = UDPPort.free()
                let heard = Heard()
                let hearing = try RadioSession(receivingOn: "127.0.0.1:\(port)") { heard.take($0, .mono) }
                try hearing.start()
                let sending = try RadioSession(sending: file, to: "127.0.0.1:\(port)")
                try sending.run()
                try hearing.wait()
                #expect(hearing.isOver)
                #expect(sending.snapshot?.sendStream.packetCount == 100)
                // The sender has left, and the last snapshot of its counts may be a tenth of a second old. On a slow
                // machine, a retransmission may arrive after its BYE.
                #expect((90...101).contains(hearing.snapshot?.talkers.first?.receivedCount ?? 0))
                let sound = heard.samples
                // Two seconds, the concealment that Opus appends, and the wait for silence.
                #expect(sound.count >= 2 * 48_000)
                if longestGap(in: sound) > 480 { return "a gap of \(longestGap(in: sound))" }
                let loudness = medianAmplitude(of: 440, in: sound[24_000..<84_000])
                return abs(loudness - 0.4) < 0.04 ? nil : "a tone of \(loudness)"
            }
        }

        @Test func theMicrophoneOpensWithAMarkerAndTimeGoesOnWhileItIsClosed() throws {
            let folder = Folder()
            let socket = PlainSocket()
            var configuration = try RadioConfiguration.sending(
                .file(folder.sound("long.wav", tone(440, seconds: 60)), raw: nil), toPort: socket.port)
            configuration.beginsOpen = false
            configuration.rtpSession.controlPort = .none
            let session = try RadioSession(configuration)
            try session.start()
            #expect(socket.receive(within: 500) == nil, "a closed microphone sends nothing")
            #expect(waiting { (session.snapshot?.capture?.level ?? .floor) > Level(decibels: -20) }, "shows its level")
            let talkspurts = try (0..<2).map { _ in
                session.isMicrophoneOpen = true
                var headers = try (0..<5).map { _ in try header(socket.receive(within: 10_000)) }
                session.isMicrophoneOpen = false
                while let datagram = socket.receive(within: 500) { headers.append(try header(datagram)) }
                return headers
            }
            session.stop()
            try session.wait()
            for headers in talkspurts {
                #expect(headers.map(\.marker) == headers.indices.map { $0 == 0 })
                for (header, next) in zip(headers, headers.dropFirst()) {
                    #expect(next.timestamp.distance(after: header.timestamp) == FrameCount(960))
                }
            }
            let (last, first) = (talkspurts[0].last!, talkspurts[1][0])
            #expect(first.sequenceNumber.distance(after: last.sequenceNumber) == 1)
            let pause = first.timestamp.distance(after: last.timestamp).rawValue
            #expect(pause >= 24_000 && pause % 960 == 0, "half a second of silence passed: \(pause)")
        }

        @Test func aPipeSlowerThanTheClockDoesNotPileUpDelay() throws {
            let folder = Folder()
            let pipe = folder.pipe("slow")
            defer { close(pipe.descriptor) }
            let sound = tone(440, seconds: 2)
            write(Array(sound[..<4_800]), to: pipe.descriptor)
            try expectNoFailure {
                let port = UDPPort.free()
                let hearing = try RadioSession(.receiving(on: port, into: Heard()))
                try hearing.start()
                let sending = try RadioSession(.sending(.file(pipe.path, raw: RawFormat()), toPort: port))
                try sending.start()
                // Two seconds of audio take four to write. If the timestamps did not advance with real time, the end
                // would play two seconds late.
                for start in stride(from: 0, to: sound.count, by: 960) {
                    write(Array(sound[start..<start + 960]), to: pipe.descriptor)
                    usleep(40_000)
                }
                #expect(waiting { (hearing.snapshot?.talkers.first?.receivedCount ?? 0) >= 95 })
                let talker = hearing.snapshot?.talkers.first
                sending.stop()
                hearing.stop()
                try hearing.wait()
                try sending.wait()
                let delay = (talker?.playout.delay ?? .zero).duration()
                return delay < .milliseconds(600) ? nil : "a delay of \(delay)"
            }
        }

        @Test func aSilentPipeDoesNotHoldTheEnd() throws {
            let folder = Folder()
            let pipe = folder.pipe("silent")
            defer { close(pipe.descriptor) }
            write(tone(440, seconds: 0.1), to: pipe.descriptor)
            let socket = PlainSocket()
            let session = try RadioSession(.sending(.file(pipe.path, raw: RawFormat()), toPort: socket.port))
            try session.start()
            #expect(socket.receive(within: 10_000) != nil)
            let start = ContinuousClock.now
            session.stop()
            try session.wait()
            #expect(ContinuousClock.now - start < .seconds(5), "a tenth of a second on an idle machine")
        }

        @Test func aRecordingThatNobodyReadsAnyMoreEndsTheSession() throws {
            let folder = Folder()
            let pipe = folder.pipe("recording")
            let file = try folder.sound("tone.wav", tone(440, seconds: 30))
            let port = UDPPort.free()
            var configuration = try RadioConfiguration.receiving(on: StreamAddress(host: "127.0.0.1", port: port))
            configuration.recording = .file(pipe.path)
            let hearing = try RadioSession(configuration)
            try hearing.start()
            let sending = try RadioSession(sending: file, to: "127.0.0.1:\(port)")
            try sending.start()
            #expect(waiting { hearing.snapshot?.talkers.first?.isHeard ?? false })
            close(pipe.descriptor)
            #expect(waiting { hearing.isOver }, "the session ends after its last source")
            hearing.stop()
            let error = #expect(throws: RadioError.self) { try hearing.wait() }
            #expect(error?.kind == .failure)
            #expect(error?.description.contains("recording") == true, "\(error?.description ?? "")")
            sending.stop()
            try sending.wait()
        }

        @Test func aClosureThatSleepsHoldsNobodyElseAndIsCounted() throws {
            let folder = Folder()
            let port = UDPPort.free()
            let hearing = try RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in usleep(3_500_000) }
            try hearing.start()
            let sending = try RadioSession(
                sending: folder.sound("tone.wav", tone(440, seconds: 30)), to: "127.0.0.1:\(port)")
            try sending.start()
            #expect(waiting { hearing.snapshot?.playback?.unrecordedSampleCount ?? 0 > 0 })
            #expect(hearing.snapshot?.talkers.first.map { $0.playout.decoded.rawValue > 48_000 } == true)
            for session in [sending, hearing] { session.stop() }
            for session in [sending, hearing] { try session.wait() }
        }

        @Test func unavailableDevicesAreReportedBeforeTheStart() throws {
            let folder = Folder()
            let port = UDPPort.free()
            let first = try RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in }
            let errors = [
                #expect(throws: RadioError.self) { try RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in } },
                #expect(throws: RadioError.self) { try RadioSession(sending: folder("none.wav"), to: "127.0.0.1") },
                #expect(throws: RadioError.self) { try RadioSession(sending: folder.path, to: "127.0.0.1") },
                #expect(throws: RadioError.self) {
                    try RadioSession(talkingWith: "127.0.0.1:\(port)", device: "nosuchcard")
                },
                #expect(throws: RadioError.self) {
                    var configuration = try RadioConfiguration.receiving(
                        on: StreamAddress(host: "127.0.0.1", port: UDPPort.free()))
                    configuration.recording = .file("/nowhere/heard.wav")
                    return try RadioSession(configuration)
                },
            ]
            for error in errors { #expect(error?.kind == .unavailable, "\(error?.description ?? "")") }
            let names = ["\(port)", "none.wav", folder.path, "nosuchcard", "/nowhere/heard.wav"]
            for (error, name) in zip(errors, names) {
                #expect(error?.description.contains(name) == true, "\(error?.description ?? "")")
            }
            #expect(first.localEndpoint.port == port)
        }

        @Test func aSessionThatWasStoppedBeforeItsStartEndsAtOnce() throws {
            let session = try RadioSession(receivingOn: "127.0.0.1:\(UDPPort.free())") { _ in }
            session.stop()
            try session.run()
            #expect(session.isOver)
        }

        @Test func aSessionThatWasNeverStartedIsWaitedForInNoTime() throws {
            let session = try RadioSession(receivingOn: "127.0.0.1:\(UDPPort.free())") { _ in }
            try session.wait()
            #expect(!session.isOver && session.snapshot == nil)
        }

        @Test func aSessionEndsAfterItsTime() throws {
            var configuration = try RadioConfiguration.receiving(on: UDPPort.free(), into: Heard())
            configuration.duration = .milliseconds(300)
            let session = try RadioSession(configuration)
            try session.run()
            #expect(session.snapshot.map { $0.elapsed >= .milliseconds(300) } == true)
        }

        @Test func aSessionThatNobodyHoldsStopsAndFreesItsPort() throws {
            let port = UDPPort.free()
            do {
                let session = try RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in }
                try session.start()
                #expect(throws: RadioError.self) { try RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in } }
            }
            let isFree = waiting { (try? RadioSession(receivingOn: "127.0.0.1:\(port)") { _ in }) != nil }
            #expect(isFree)
        }

        /// RTCP uses the next higher port, which `UDPPort.free` reserves as well.
        @Test func aStrayDatagramDoesNotEndReportsOnThePortAbove() throws {
            let port = UDPPort.free()
            var configuration = try RadioConfiguration.receiving(on: port, into: Heard())
            configuration.output = .clock
            let session = try RadioSession(configuration)
            try session.start()
            let socket = PlainSocket()
            socket.send([1, 2, 3], toPort: port + 1)
            socket.send([UInt8](repeating: 0x80, count: 40), toPort: port + 1)
            let report = [UInt8](capacity: 100) {
                ReceiverReport(ssrc: SSRC(9)).write(into: &$0)
                SourceDescription(ssrc: SSRC(9), canonicalName: "x", name: "Anna", tool: nil, extensions: []).write(
                    into: &$0)
            }
            #expect(
                waiting(5) {
                    socket.send(report, toPort: port + 1)
                    return session.snapshot?.participants.map(\.name) == ["Anna"]
                })
            session.stop()
            try session.wait()
        }

        @Test func severalMayWaitForTheEnd() throws {
            let session = try RadioSession(receivingOn: "127.0.0.1:\(UDPPort.free())") { _ in }
            try session.start()
            let other = Thread {
                usleep(100_000)
                session.stop()
                try? session.wait()
            }
            other.start()
            try session.wait()
            #expect(session.isOver)
            #expect(waiting { other.isFinished })
        }

        private func header(_ datagram: [UInt8]?) throws -> RTPHeader {
            let datagram = try #require(datagram, "no datagram arrived")
            return try RTPHeader(parsing: datagram.span)
        }
    }
}
