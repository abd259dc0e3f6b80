internal import TenfourAudioCore

/// Sentences about devices that the user may not open, with the rule of udev or the group that permits it.
enum Remedy {
    /// The file for the rules. Its name sorts before `73-seat-late.rules`, which gives the rights of `uaccess`.
    static let rulesFile = "/etc/udev/rules.d/70-tenfour-ptt.rules"

    static func inputNotPermitted(_ path: String, name: String?) -> PTTDeviceError {
        let shown = name.map { "'\(String(fromPeer: $0))' (\(path))" } ?? path
        let match = name.map { #", ATTRS{name}=="\#(pattern($0))""# } ?? ""
        return notPermitted(
            shown, rule: #"SUBSYSTEM=="input", KERNEL=="event*"\#(match), TAG+="uaccess""#, group: "input")
    }

    /// `id` is the device's id in sysfs, such as `0003:00000D8C:0000000C` (bus, vendor and product).
    static func hidNotPermitted(_ path: String, name: String, vendor: UInt16, product: UInt16) -> PTTDeviceError {
        notPermitted(
            "'\(String(fromPeer: name))' (\(path))",
            rule:
                #"SUBSYSTEM=="hidraw", KERNELS=="*:\#(hexadecimal(vendor)):\#(hexadecimal(product)).*", TAG+="uaccess""#,
            group: nil)
    }

    static func gpioNotPermitted(_ line: String) -> PTTDeviceError {
        PTTDeviceError(
            .notPermitted,
            #"the GPIO line \#(line) may not be requested: join the group gpio (sudo usermod -aG gpio $USER, then log in again); where there is none, create it (sudo groupadd gpio), and put this line into \#(rulesFile): SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="gpio", MODE="0660""#
        )
    }

    private static func notPermitted(_ device: String, rule: String, group: String?) -> PTTDeviceError {
        let others =
            group.map {
                "For a user without a seat at this machine, as over SSH: sudo usermod -aG \($0) $USER, then log in again"
            }
            ?? #"For a user without a seat at this machine, as over SSH, write GROUP="plugdev", MODE="0660" instead of TAG+="uaccess""#
        return PTTDeviceError(
            .notPermitted,
            "\(device) may not be read: put this line into \(rulesFile), then run sudo udevadm control --reload and plug the device in again: \(rule). \(others)"
        )
    }

    /// The name of a device as a pattern of udev. What has a meaning there, and what is not shown, becomes `?`, any
    /// character: the device has chosen its name, and a person copies the rule as root.
    static func pattern(_ name: String) -> String {
        String(
            String(fromPeer: name).unicodeScalars.map { scalar -> Character in
                scalar.isASCII && scalar.value >= 0x20 && !#""\*?[]|$%"#.unicodeScalars.contains(scalar)
                    ? Character(scalar) : "?"
            })
    }

    /// Four digits, as the kernel writes them in the names of HID devices.
    static func hexadecimal(_ number: UInt16) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
