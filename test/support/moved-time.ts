import { readFileSync } from 'node:fs';

/** Loaded into a process before its program (`node --import`). Its clock is ahead by the milliseconds in the file `MOVED_TIME`, from its start on. */
const file = process.env['MOVED_TIME'] ?? '';
const now = Date.now;

Date.now = () => now() + Number(readFileSync(file, 'utf8'));
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + Date.now() - now() });
