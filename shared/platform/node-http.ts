/**
 * node:http as CommonJS has it. An import reads all of its exports, and that of WebSocket loads Node's own fetch and streams of the web,
 * which an API does not need: 2 MB of each.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
