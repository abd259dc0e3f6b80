// Addresses of Unix sockets, and connections to them. This module does not know what is said over them.
