/** What an endpoint may be called (CONTRACT 3.1). */
export const ENDPOINT_NAME = /^[a-z][a-z0-9_]{0,63}$/;
