/** Valid names of endpoints (docs/api.md, "Schema packages"). */
export const ENDPOINT_NAME = /^[a-z][a-z0-9_]{0,63}$/;
