internal import Glibc

extension MetricsText {
    /// Adds the metrics of the process under the names that every Prometheus client uses: CPU time, memory, open files.
    public mutating func addProcess() {
        let process = ProcessReading()
        add(
            "process_cpu_seconds_total", .counter, "CPU time that the process has used, in user and system mode.",
            process.cpuSeconds)
        add("process_open_fds", .gauge, "Open file descriptors.", Double(process.openFiles))
        add("process_max_fds", .gauge, "Limit of open file descriptors.", Double(process.maximumOpenFiles))
        add("process_resident_memory_bytes", .gauge, "Resident memory.", Double(process.residentBytes))
        add("process_virtual_memory_bytes", .gauge, "Virtual memory.", Double(process.virtualBytes))
        add(
            "process_start_time_seconds", .gauge, "Start of the process in seconds since 1970 (UTC).",
            ProcessReading.startTime)
    }
}

/// The resources of this process, read from /proc/self. A value that cannot be read is zero.
private struct ProcessReading {
    var cpuSeconds = 0.0
    var openFiles = 0
    var maximumOpenFiles = UInt64(0)
    var residentBytes = 0
    var virtualBytes = 0

    init() {
        var usage = rusage()
        if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        }
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            maximumOpenFiles = UInt64(limit.rlim_cur)
        }
        let pages = Self.fields(of: "/proc/self/statm").compactMap { Int($0) }
        if pages.count > 1 {
            virtualBytes = pages[0] * sysconf(Int32(_SC_PAGESIZE))
            residentBytes = pages[1] * sysconf(Int32(_SC_PAGESIZE))
        }
        openFiles = Self.openFileCount
    }

    /// The time of the process' start. /proc/stat, which states the time of the machine's start, is hidden from a
    /// service with `ProcSubset=pid`, so the start is counted back from now.
    static let startTime: Double = {
        // The second field is the program's name in parentheses and may contain spaces; the start is the 20th field
        // after it.
        let line = text(of: "/proc/self/stat").split(separator: ")").last ?? ""
        let fields = line.split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return 0 }
        return now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME) + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func now(_ clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static var openFileCount: Int {
        guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // The names `.` and `..`, and the descriptor of the folder itself.
        return max(count - 3, 0)
    }

    private static func fields(of path: String) -> [Substring] { text(of: path).split(separator: " ") }

    private static func text(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
