internal import Glibc
internal import TenfourChannelKeys
internal import TenfourManagedChannel
internal import TenfourRelayCore
internal import TenfourSystem

/// The folder with a relay's files of the channels that have an owner: for each channel one of mode 0600, in which a restart
/// finds what members and signers have deposited. The files are written by a thread of its own, one after the other.
public final class ManagedChannelFolder: Sendable {
    let path: String
    private let state = Locked(State())

    private struct State {
        var waiting: [ManagedSnapshot] = []
        var written: [Written] = []
        var writer: Writer?
        /// The channels whose latest state could not be written.
        var failing: Set<String> = []
    }

    private struct Writer {
        let thread: WorkerThread
        let stop: StopSignal
    }

    /// A state that is on disk now, or could not be written.
    struct Written {
        var snapshot: ManagedSnapshot
        var isStored: Bool
        /// Tells of the first failure since the last success.
        var notice: RelayNotice?
    }

    init(_ path: String) { self.path = path }

    private static func path(of channel: String, in folder: String) -> String { "\(folder)/\(channel).members" }

    // MARK: Reading

    /// Makes the folder, if `channels` have owners and it is missing, and checks that the files in it can be read, and others
    /// written. Returns the reason with the remedy if not.
    public static func fault(of path: String, for channels: [String]) -> String? {
        guard !channels.isEmpty else { return nil }
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/\(part)"
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST, unsafe access(made, F_OK) != 0 {
                return
                    "\(made) cannot be made (\(unsafe String(cString: strerror(errno)))): name another folder with state DIR"
            }
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return
                "the relay can write no files in \(path) (\(unsafe String(cString: strerror(errno)))): change its owner with chown, or name another folder with state DIR"
        }
        for channel in channels {
            let file = Self.path(of: channel, in: path)
            var byte = InlineArray<1, UInt8>(repeating: 0)
            var span = byte.mutableSpan
            do throws(PrivateFileError) { _ = try PrivateFile.read(file, into: &span) } catch {
                if error != .unreadable(ENOENT) {
                    return error.sentence(file, holding: "the members of channel \(channel)")
                }
            }
        }
        return nil
    }

    /// Reads the files of the channels that have an owner. Blocks on the disk. A file that is damaged is told, and taken for
    /// none.
    func stores(
        for configuration: RelayConfiguration
    ) -> (stores: [String: ManagedChannelStore], notices: [RelayNotice]) {
        var stores: [String: ManagedChannelStore] = [:]
        var notices: [RelayNotice] = []
        var buffer = [UInt8](
            repeating: 0,
            count: configuration.channels.contains { $0.owner != nil }
                ? ManagedChannelStore.maximumFileByteCount + 1 : 0)
        for channel in configuration.channels {
            guard let owner = channel.owner else { continue }
            let file = Self.path(of: channel.name, in: path)
            var span = buffer.mutableSpan
            do throws(PrivateFileError) {
                let byteCount = try PrivateFile.read(file, into: &span)
                do throws(ManagedChannelFileError) {
                    stores[channel.name] = try ManagedChannelStore(
                        parsingFile: span.span.extracting(..<byteCount), ownerKey: owner,
                        channelID: channel.listenJoin.channelID)
                } catch {
                    notices.append(.membersUnknown(channel: channel.name, error.sentence(file)))
                }
            } catch {
                if error == .unreadable(ENOENT) { continue }
                notices.append(
                    .membersUnknown(
                        channel: channel.name, error.sentence(file, holding: "the members of the channel")))
            }
        }
        return (stores, notices)
    }

    // MARK: Writing

    /// Writes a state soon. `written` is called on another thread when `takeWritten` will return it.
    func write(_ snapshot: ManagedSnapshot, written: @escaping @Sendable () -> Void) {
        let isStarted = state.withLock { state in
            state.waiting.append(snapshot)
            state.writer?.stop.wakeup.signal()
            return state.writer != nil
        }
        guard !isStarted else { return }
        guard let stop = try? StopSignal(), let thread = try? WorkerThread({ [self] in run(until: stop, written) })
        else {
            // Without a thread, the state is written on this one.
            writeAll(written)
            return
        }
        state.withLock { $0.writer = Writer(thread: thread, stop: stop) }
    }

    private func run(until stop: StopSignal, _ written: @Sendable () -> Void) {
        while true {
            writeAll(written)
            guard !stop.isStopped else { return writeAll(written) }
            stop.wakeup.wait(atMost: -1)
        }
    }

    private func writeAll(_ written: @Sendable () -> Void) {
        while let next = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
            let result = save(next)
            state.withLock { $0.written.append(result) }
            written()
        }
    }

    private func save(_ snapshot: ManagedSnapshot) -> Written {
        let (file, content) = (Self.path(of: snapshot.name, in: path), snapshot.content)
        do throws(PrivateFileError) {
            try PrivateFile.replace(file, content.span)
            state.withLock { _ = $0.failing.remove(snapshot.name) }
            return Written(snapshot: snapshot, isStored: true)
        } catch {
            let isNews = state.withLock { $0.failing.insert(snapshot.name).inserted }
            let sentence = error.sentence(file, holding: "the members of the channel")
            return Written(
                snapshot: snapshot, isStored: false,
                notice: isNews ? .membersNotStored(channel: snapshot.name, sentence) : nil)
        }
    }

    /// Removes and returns what was written since the last call.
    func takeWritten() -> [Written] {
        state.withLock { state in
            defer { state.written = [] }
            return state.written
        }
    }

    /// Waits until all states are written, and ends the thread.
    func close() {
        let writer = state.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }
        writer?.stop.stop()
        writer?.thread.join()
    }
}

extension ManagedChannelFileError {
    fileprivate func sentence(_ file: String) -> String {
        switch self {
        case .damaged:
            "\(file) is damaged, and taken for none: restore it from a copy, or the members join again when the owner has deposited their list"
        case .anotherChannel:
            "\(file) is that of another channel or owner, and taken for none: the members join when the owner has deposited their list"
        }
    }
}
