/** The largest body in bytes. Calls, which may contain files, and schema packages have their own limits. */
export const BODY_BYTES = 256 * 1024;
export const CALL_BYTES = 2 * 1024 * 1024;
export const PACKAGE_BYTES = 4 * 1024 * 1024;
