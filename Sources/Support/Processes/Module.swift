// Programs that are started without a shell. This module does not know what they do.
