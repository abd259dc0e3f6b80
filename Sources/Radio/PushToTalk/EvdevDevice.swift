internal import CEvdev
internal import TenfourAudioCore

/// An open input device, and the state of one of its keys. Not tried on hardware. The C functions are the ioctls
/// EVIOCSCLOCKID, EVIOCSMASK, EVIOCGKEY and EVIOCGRAB.
final class EvdevDevice: OpenDevice {
    private let file: DeviceFile
    private let code: UInt16
    private var parser = InputEventParser()
    private var contact: KeyContact
    let info: PTTDeviceInfo

    var descriptor: Int32 { file.descriptor }
    var kind: DeviceFile.Kind { file.kind }

    init(_ file: DeviceFile, name: String, path: String, code: UInt16) {
        (self.file, self.code) = (file, code)
        contact = KeyContact(code: code)
        if file.kind == .device {
            // Without this the kernel stamps the events by the wall clock.
            _ = cevdev_use_monotonic_clock(file.descriptor)
            // What is typed on a keyboard is not for this process. A kernel before 4.4 delivers it, and it is ignored.
            _ = cevdev_receive_only(file.descriptor, UInt32(code))
        }
        _ = contact.set(Self.isDown(code, file.descriptor))
        info = PTTDeviceInfo(name: name, path: path, isHeld: contact.isPressed)
    }

    /// Takes the device's events away from all other programs. Returns false if another program has them. Needs no
    /// undoing, because the kernel gives them back when the file is closed.
    func grab() -> Bool { file.kind != .device || cevdev_grab(file.descriptor) == 0 }

    func read(at now: Instant, _ changed: (Bool, Instant) -> Void) -> DeviceFile.Result {
        file.read { bytes in
            parser.parse(bytes) { event in
                let time = Instant.plausible(event.time, now: now)
                var result = contact.receive(event)
                if result == .mustBeRead { result = contact.set(Self.isDown(code, descriptor)) }
                switch result {
                case .pressed: changed(true, time)
                case .released: changed(false, time)
                case .unchanged, .mustBeRead: break
                }
            }
        }
    }

    /// Whether the key is down; false if the device does not tell, as a pipe.
    private static func isDown(_ code: UInt16, _ descriptor: Int32) -> Bool {
        var bits = [UInt8](repeating: 0, count: Int(Evdev.lastKey) / 8 + 1)
        guard unsafe cevdev_read_keys(descriptor, &bits, UInt32(bits.count)) >= 0 else { return false }
        return bits[Int(code) / 8] >> UInt8(code % 8) & 1 == 1
    }
}
