internal import CGPIOD
internal import Glibc

/// libgpiod's functions, loaded on demand: version 1.6 (`libgpiod.so.2`) of Debian 12. Version 2, which Debian 13 has,
/// has others.
@safe struct GPIOLibrary: @unchecked Sendable {
    // The functions never change, and libgpiod has no global state.
    let functions: tenfour_gpiod

    /// Loads libgpiod from the library `file`. The C function is `dlopen`.
    init(_ file: String) throws(PTTDeviceError) {
        var failure: UnsafePointer<CChar>?
        let functions = unsafe tenfour_gpiod_open(file, &failure)
        if let failure = unsafe failure {
            throw PTTDeviceError(
                .noLibrary,
                "reading GPIO lines needs libgpiod 1.6, which cannot be loaded (\(unsafe String(cString: failure))): run `apt-get install libgpiod2`; Debian 13 has only version 2, so let the kernel make the line a key there (dtoverlay=gpio-key), and name evdev:KEY"
            )
        }
        self.functions = functions
    }

    /// A line of a chip.
    struct Line: Hashable {
        var chip: String
        var number: Int
        var name: String
        /// The program or driver that uses the line; nil if none does.
        var consumer: String?
    }

    /// Returns all lines that have a name, at most 1024, in the order of the chips. Throws the errno if a chip may not
    /// be opened. The C functions are `gpiod_chip_iter_new` and `gpiod_chip_get_line`.
    func lines() throws(SystemError) -> [Line] {
        guard let chips = unsafe functions.gpiod_chip_iter_new() else { throw SystemError(code: errno) }
        defer { unsafe functions.gpiod_chip_iter_free(chips) }
        var lines: [Line] = []
        while let chip = unsafe functions.gpiod_chip_iter_next(chips), lines.count < 1_024 {
            let chipName = unsafe functions.gpiod_chip_name(chip).map { unsafe String(cString: $0) } ?? ""
            let count = unsafe functions.gpiod_chip_num_lines(chip)
            for number in 0..<count {
                guard let line = unsafe functions.gpiod_chip_get_line(chip, number),
                    let name = unsafe functions.gpiod_line_name(line), lines.count < 1_024
                else { continue }
                let consumer =
                    unsafe functions.gpiod_line_is_used(line)
                    ? text(functions.gpiod_line_consumer(line)) ?? "the kernel" : nil
                lines.append(
                    Line(chip: chipName, number: Int(number), name: unsafe String(cString: name), consumer: consumer))
            }
        }
        return lines
    }

    private func text(_ text: UnsafePointer<CChar>?) -> String? { unsafe text.map { unsafe String(cString: $0) } }
}
