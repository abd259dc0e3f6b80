internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourPacing
internal import TenfourSystem

/// The thread of a source: waits for its devices, reports the changes, and looks for devices that are missing.
struct DeviceRun {
    private var finder: any DeviceFinder
    private let wakeup: WakeupPipe
    private let report: @Sendable (PTTEvent) -> Void

    private var devices: [(id: Int, device: any OpenDevice)] = []
    private var nextID = 0
    private var contacts = HeldContacts()
    private var lastProblem: PTTDeviceError?
    private var watch: FolderWatch?
    private var pauses = Backoff(first: .seconds(1), longest: .seconds(5))
    private var nextSearch: Instant?

    /// The most devices that are read at once.
    static let maximumDeviceCount = 32
    /// The time between the appearance of a file and the search, in which udev sets its rights.
    static let settlingTime = Duration.milliseconds(50)
    /// The pause after a read that has filled the buffer, which bounds the processor time for a device that never
    /// stops.
    static let floodPause = Duration.milliseconds(2)

    init(_ finder: any DeviceFinder, _ wakeup: WakeupPipe, _ report: @escaping @Sendable (PTTEvent) -> Void) {
        (self.finder, self.wakeup, self.report) = (finder, wakeup, report)
    }

    mutating func untilStopped(_ isStopping: () -> Bool) {
        search(at: MonotonicClock.now)
        while !isStopping() {
            let descriptors =
                [wakeup.descriptor] + (watch.map { [$0.descriptor] } ?? []) + devices.map(\.device.descriptor)
            let ready = PollResult.wait(for: descriptors, until: deadline)
            let now = MonotonicClock.now
            if !ready[0].isEmpty { wakeup.clear() }
            if watch != nil, !ready[1].isEmpty { readWatch(at: now) }
            let isFlooded = readDevices(ready.suffix(devices.count), at: now)
            for (id, device) in devices where device.deadline.map({ $0 <= now }) ?? false {
                var changes: [(Bool, Instant)] = []
                device.timeElapsed(at: now) { changes.append(($0, $1)) }
                record(changes, of: id)
            }
            if let nextSearch, nextSearch <= now { search(at: now) }
            if isFlooded { _ = PollResult.wait(for: [wakeup.descriptor], until: now + Self.floodPause) }
        }
        if contacts.isPressed { report(PTTEvent(.released, at: MonotonicClock.now)) }
    }

    private var deadline: Instant? { ([nextSearch] + devices.map(\.device.deadline)).compactMap(\.self).min() }

    /// Reads the devices that are ready. Returns whether one of them had more than a buffer.
    private mutating func readDevices(_ ready: ArraySlice<PollResult>, at now: Instant) -> Bool {
        var isFlooded = false
        for ((id, device), ready) in zip(devices, ready) where !ready.isEmpty {
            var changes: [(Bool, Instant)] = []
            let result = device.read(at: now) { changes.append(($0, $1)) }
            record(changes, of: id)
            isFlooded = isFlooded || result == .full
            if result == .ended || ready == .hungUp { remove(id, at: now) }
        }
        return isFlooded
    }

    private func tell(_ change: PTTEvent.Change?, at time: Instant) {
        if let change { report(PTTEvent(change, at: time)) }
    }

    private mutating func record(_ changes: [(Bool, Instant)], of id: Int) {
        for (isClosed, time) in changes { tell(contacts.set(id, isClosed: isClosed), at: time) }
    }

    private mutating func remove(_ id: Int, at now: Instant) {
        devices.removeAll { $0.id == id }
        tell(contacts.remove(id), at: now)
        if devices.isEmpty {
            lastProblem = nil
            search(after: pauses.next(), from: now)
            tellGone(PTTDeviceError(.notFound, "the device was unplugged; plug it in again"), at: now)
        } else {
            tell(.changed(devices.map(\.device.info)), at: now)
        }
    }

    private mutating func tellGone(_ problem: PTTDeviceError, at now: Instant) {
        // That an unplugged device is not found says nothing new.
        guard problem != lastProblem, problem.kind != .notFound || lastProblem?.kind != .notFound else { return }
        lastProblem = problem
        tell(.gone(problem), at: now)
    }

    private mutating func readWatch(at now: Instant) {
        guard let names = watch?.names() else {
            watch = nil
            search(after: pauses.next(), from: now)
            return
        }
        guard names.contains(where: finder.isDevice) else { return }
        pauses.succeeded()
        search(after: Self.settlingTime, from: now)
    }

    private mutating func search(after pause: Duration, from now: Instant) {
        nextSearch = min(nextSearch ?? now + pause, now + pause)
    }

    private mutating func search(at now: Instant) {
        nextSearch = nil
        // The watch begins before the search, so that no device can appear between the two.
        if watch == nil { watch = FolderWatch(finder.folder) }
        guard devices.isEmpty || finder.findsSeveral else { return }
        let found = finder.find(except: Set(devices.map(\.device.info.path)))
        let hadNone = devices.isEmpty
        for device in found.devices where devices.count < Self.maximumDeviceCount {
            devices.append((nextID, device))
            contacts.add(nextID, isClosed: device.info.isHeld)
            nextID += 1
        }
        if !found.devices.isEmpty {
            pauses.succeeded()
            lastProblem = nil
            tell(hadNone ? .back(devices.map(\.device.info)) : .changed(devices.map(\.device.info)), at: now)
        } else if devices.isEmpty {
            tellGone(
                found.problem ?? PTTDeviceError(.notFound, "there is no such device; plug it in"), at: now)
        }
        if devices.isEmpty || (finder.findsSeveral && watch == nil) { search(after: pauses.next(), from: now) }
    }
}
