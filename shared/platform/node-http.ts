/**
 * The CommonJS exports of node:http. An import statement would read all exports. Reading WebSocket loads Node's fetch and web streams,
 * which take 2 MB each and which an API does not need.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
