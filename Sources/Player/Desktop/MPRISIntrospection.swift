/// The description of the object in XML (D-Bus specification, "Introspection Data Format").
enum MPRISIntrospection {
    /// Returns the page of the object at `path`, or of a folder above it; nil for any other path.
    static func page(of path: String) -> String? {
        if path == MPRISObject.path { return head + "<node>" + interfaces + "</node>\n" }
        let folder = path == "/" ? path : path + "/"
        guard MPRISObject.path.hasPrefix(folder) else { return nil }
        let child = MPRISObject.path.dropFirst(folder.count).prefix { $0 != "/" }
        return head + "<node><node name=\"\(child)\"/></node>\n"
    }

    private static let head = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    private static let interfaces =
        interface(
            "org.freedesktop.DBus.Introspectable", method("Introspect", "out s xml"))
        + interface(
            "org.freedesktop.DBus.Properties", method("Get", "in s interface", "in s property", "out v value"),
            method("GetAll", "in s interface", "out a{sv} values"),
            method("Set", "in s interface", "in s property", "in v value"),
            "<signal name=\"PropertiesChanged\"><arg type=\"s\" name=\"interface\"/>"
                + "<arg type=\"a{sv}\" name=\"changed\"/><arg type=\"as\" name=\"invalidated\"/></signal>")
        + interface(
            "org.mpris.MediaPlayer2", method("Raise"), method("Quit"), property("CanQuit", "b"),
            property("CanRaise", "b"), property("HasTrackList", "b"), property("Identity", "s"),
            property("SupportedUriSchemes", "as"), property("SupportedMimeTypes", "as"))
        + interface(
            "org.mpris.MediaPlayer2.Player", method("Next"), method("Previous"), method("Pause"), method("PlayPause"),
            method("Stop"), method("Play"), method("Seek", "in x Offset"),
            method("SetPosition", "in o TrackId", "in x Position"), method("OpenUri", "in s Uri"),
            "<signal name=\"Seeked\"><arg type=\"x\" name=\"Position\"/></signal>",
            property("PlaybackStatus", "s"), property("LoopStatus", "s", "readwrite"),
            property("Shuffle", "b", "readwrite"),
            property("Rate", "d", "readwrite"), property("Metadata", "a{sv}"), property("Volume", "d", "readwrite"),
            property("Position", "x"), property("MinimumRate", "d"), property("MaximumRate", "d"),
            property("CanGoNext", "b"), property("CanGoPrevious", "b"), property("CanPlay", "b"),
            property("CanPause", "b"), property("CanSeek", "b"), property("CanControl", "b"))

    private static func interface(_ name: String, _ members: String...) -> String {
        "<interface name=\"\(name)\">\(members.joined())</interface>"
    }

    /// `arguments` are a direction, a type and a name each.
    private static func method(_ name: String, _ arguments: String...) -> String {
        let arguments = arguments.map { argument in
            let words = argument.split(separator: " ")
            return "<arg direction=\"\(words[0])\" type=\"\(words[1])\" name=\"\(words[2])\"/>"
        }
        return "<method name=\"\(name)\">\(arguments.joined())</method>"
    }

    private static func property(_ name: String, _ type: String, _ access: String = "read") -> String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(access)\"/>"
    }
}
