// Feeds a mount point of an Icecast server with the Ogg pages of a channel, by libshout. The pages come from another
// module, and wait in a bounded queue; nothing here ever delays their sender.
