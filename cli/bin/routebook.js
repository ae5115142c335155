#!/usr/bin/env node
// Plain JavaScript for every Node: says what it needs, then starts the sources where they are (the repository), or what they were
// compiled to (the published package, since Node does not read TypeScript below node_modules).

import { existsSync } from 'node:fs';

const OLDEST_NODE = [22, 20];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    console.error(`routebook: needs Node ${OLDEST_NODE.join('.')} or newer, and this is ${process.version}; see https://nodejs.org`);
    process.exit(1);
}

const source = new URL('./routebook.ts', import.meta.url);
await import(existsSync(source) ? source : new URL('../dist/cli/bin/routebook.js', import.meta.url));
