internal import TenfourAudioCore
internal import TenfourSession
internal import TenfourUV

/// The unencrypted channels, with their open inputs and counters.
final class PlainChannels {
    private(set) var channels: [PlainChannel] = []

    private let loop: EventLoop
    private let announcer: SAPAnnouncer
    /// The channel numbers in `ShardedFanOut`: negative, to differ from the numbers of encrypted channels.
    private var numbers: [Int] = []
    /// The inputs of each channel in the order of its configuration; nil for an input that could not be opened.
    private var inputs: [[PlainInput?]] = []
    private var nextNumber = -1
    /// The summed statistics of the inputs that have been closed.
    private var closed = SocketStatistics()

    /// `address` is that of the socket from which packets are sent.
    init(on loop: EventLoop, sendingFrom address: IPAddress) {
        self.loop = loop
        announcer = SAPAnnouncer(on: loop, sendingFrom: address)
    }

    /// Replaces the channels by `wanted`. Unchanged channels stay open without interruption; changed channels are
    /// closed and opened anew. Inputs that could not be opened are tried again. Each received packet is passed to
    /// `forward` with its stream and channel numbers. Returns a notice for each input that was opened, and for each
    /// input that could not be opened.
    func set(
        _ wanted: [PlainChannel], shardedFanOut: inout ShardedFanOut,
        forward: @escaping (Span<UInt8>, _ stream: Int, _ channel: Int) -> Void
    ) -> [RelayNotice] {
        var notices: [RelayNotice] = []
        let wantedByName = Dictionary(wanted.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var kept: [String: (number: Int, inputs: [PlainInput?])] = [:]
        for index in channels.indices {
            if wantedByName[channels[index].name] == channels[index] {
                kept[channels[index].name] = (numbers[index], inputs[index])
            } else {
                for case let input? in inputs[index] {
                    closed.merge(input.statistics)
                    input.close()
                }
                shardedFanOut.end(numbers[index])
            }
        }
        (channels, numbers, inputs) = ([], [], [])
        for channel in wanted {
            channels.append(channel)
            if let old = kept.removeValue(forKey: channel.name) {
                numbers.append(old.number)
                inputs.append(old.inputs)
            } else {
                numbers.append(nextNumber)
                inputs.append(channel.inputs.map { _ in nil })
                for (member, target) in channel.targets.enumerated() {
                    shardedFanOut.add(member, to: nextNumber, at: target)
                }
                if let gateway = channel.gateway {
                    shardedFanOut.add(channel.targets.count, to: nextNumber, at: gateway)
                }
                nextNumber -= 1
            }
            let (index, number) = (numbers.count - 1, numbers[numbers.count - 1])
            for (stream, input) in channel.inputs.enumerated() where inputs[index][stream] == nil {
                do throws(NetworkError) {
                    let opened = try PlainInput(input, channel.limits, on: loop) { forward($0, stream, number) }
                    inputs[index][stream] = opened
                    notices.append(.receiving(channel: channel.name, opened.localEndpoint))
                } catch {
                    notices.append(.inputRefused(channel: channel.name, input.bind, error))
                }
            }
        }
        return notices
    }

    func status(_ shardedFanOut: borrowing ShardedFanOut) -> [RelayServerStatus.Plain] {
        channels.indices.map { index in
            var status = RelayServerStatus.Plain(name: channels[index].name, targetCount: channels[index].targets.count)
            for case let input? in inputs[index] {
                status.received += input.received
                status.receivedByteCount += input.receivedByteCount
                status.discards.merge(input.discards, uniquingKeysWith: +)
            }
            status.fanOut = shardedFanOut.statistics(of: numbers[index])
            return status
        }
    }

    /// The combined statistics of the sockets of all inputs and of announcements, including closed sockets.
    var statistics: SocketStatistics {
        var sum = closed
        sum.merge(announcer.statistics)
        for case let input? in inputs.joined() { sum.merge(input.statistics) }
        return sum
    }

    /// Announces the channels that are to be announced and whose encoding is known. Call it about once per second.
    /// Returns a notice for each new announcement.
    func announce(at now: Instant) -> [RelayNotice] {
        var sessions: Set<SAPAnnouncer.Session> = []
        for (channel, inputs) in zip(channels, inputs) {
            guard let payloadType = inputs.lazy.compactMap({ $0?.payloadType }).first else { continue }
            for group in channel.announcedGroups {
                sessions.insert(.init(channel: channel.name, group: group, payloadType: payloadType))
            }
        }
        return announcer.update(sessions, at: now).map {
            .announcing(channel: $0.channel, $0.group, payloadType: $0.payloadType)
        }
    }

    func close() {
        for input in inputs.joined() { input?.close() }
        announcer.close()
    }
}
