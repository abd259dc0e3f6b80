/// The program that installs packages on this machine.
public enum PackageManager: String, Hashable, Sendable, CaseIterable {
    case apt, dnf, pacman, zypper, apk

    /// Finds the one that is installed; apt if none is.
    init(on machine: Machine) {
        let paths: [(Self, String)] = [
            (.apt, "/usr/bin/apt-get"), (.dnf, "/usr/bin/dnf"), (.pacman, "/usr/bin/pacman"),
            (.zypper, "/usr/bin/zypper"), (.apk, "/sbin/apk"),
        ]
        self = paths.first { machine.exists($0.1) }?.0 ?? .apt
    }

    /// The command that installs packages, which are given by their names in Debian.
    func command(_ names: String...) -> String {
        let list = names.map(localName).joined(separator: " ")
        return switch self {
        case .apt: "`sudo apt install \(list)`"
        case .dnf: "`sudo dnf install \(list)`"
        case .pacman: "`sudo pacman -S \(list)`"
        case .zypper: "`sudo zypper install \(list)`"
        case .apk: "`sudo apk add \(list)`"
        }
    }

    private func localName(_ debian: String) -> String {
        if self == .apt { return debian }
        return switch debian {
        case "avahi-daemon": "avahi"
        case "libnss-mdns": "nss-mdns"
        case "libasound2-plugins": self == .dnf ? "alsa-plugins-pulseaudio" : "alsa-plugins"
        case "systemd-timesyncd": "chrony"
        default: debian
        }
    }
}
