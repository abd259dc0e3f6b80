import CALSA
import Glibc

/// Returns the name of the program that holds the hardware behind `name` (`hw:`, `plughw:` and the like); nil if the
/// kernel does not show it.
func holder(ofCardNamed name: String, _ direction: Direction, root: String = "/proc") -> String? {
    guard let (card, device) = hardware(named: name) else { return nil }
    let index = unsafe card.allSatisfy(\.isNumber) ? Int32(card) ?? -1 : snd_card_get_index(card)
    guard index >= 0 else { return nil }
    let pcm = "\(root)/asound/card\(index)/pcm\(device)\(direction == .playback ? "p" : "c")"
    for sub in 0..<8 {
        guard let status = text(ofFile: "\(pcm)/sub\(sub)/status") else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("owner_pid") {
            let process = line.drop { !$0.isNumber }
            guard let program = text(ofFile: "\(root)/\(process)/comm") else { continue }
            return String(program.prefix { $0 != "\n" })
        }
    }
    return nil
}

/// Parses `hw:1,0`, `plughw:CARD=USB,DEV=0` or `hw:1` into card and device; nil for names of other kinds.
func hardware(named name: String) -> (card: String, device: Int)? {
    guard let colon = name.firstIndex(of: ":"), name[..<colon].hasSuffix("hw") else { return nil }
    var (card, device) = ("", 0)
    for (position, field) in name[name.index(after: colon)...].split(separator: ",").enumerated() {
        let value = field.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
        if field.hasPrefix("CARD=") || (position == 0 && !field.contains("=")) {
            card = value
        } else if field.hasPrefix("DEV=") || (position == 1 && !field.contains("=")) {
            device = Int(value) ?? 0
        }
    }
    return card.isEmpty ? nil : (card, device)
}

/// Reads the first kilobyte of a file.
private func text(ofFile path: String) -> String? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
        unsafe count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
}
