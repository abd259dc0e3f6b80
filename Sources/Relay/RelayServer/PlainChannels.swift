internal import TenfourSession
internal import TenfourUV

/// The unencrypted channels, with their open inputs and counters.
final class PlainChannels {
    private(set) var channels: [PlainChannel] = []

    private let loop: EventLoop
    /// The channel numbers in `ShardedFanOut`: negative, to differ from the numbers of encrypted channels.
    private var numbers: [Int] = []
    /// The inputs of each channel in the order of its configuration; nil for an input that could not be opened.
    private var inputs: [[PlainInput?]] = []
    private var nextNumber = -1
    /// The summed statistics of the inputs that have been closed.
    private var closed = SocketStatistics()

    init(on loop: EventLoop) { self.loop = loop }

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
                status.discards.merge(input.discards, uniquingKeysWith: +)
            }
            status.fanOut = shardedFanOut.statistics(of: numbers[index])
            return status
        }
    }

    /// The combined statistics of the sockets of all inputs, including closed sockets.
    var statistics: SocketStatistics {
        inputs.joined().reduce(into: closed) { sum, input in if let input { sum.merge(input.statistics) } }
    }

    func close() {
        for input in inputs.joined() { input?.close() }
    }
}
