/** The protocol version that this library speaks, as it goes on every request: `Major.Minor`, never a patch (3.6.1). */
export const protocolVersion = "1.0";

/** Name of the header that carries the protocol version, in lower case (14.2.1). */
export const versionHeader = "a2a-version";
