import { isLongerThan } from '../../json/json-bounds.ts';
import { textProblem } from '../../text/text-rule.ts';
import { findSecrets } from '../secrets-scan.ts';
import type { Path, Report } from './report.ts';

/** Limits of a whole package (docs/api.md, "Schema packages"). Levels count nested objects and arrays; the package itself is level 1. */
export const MAX_LEVELS = 32;
/** 500 endpoints with 300 values each. Publishing runs in the process that answers all other requests. */
export const MAX_VALUES = 150_000;
export const TOO_MANY_VALUES = `The package has more than ${MAX_VALUES} values; publish fewer endpoints or smaller schemas.`;
const MAX_TEXT = 65_536;

/** Keys that would reach the prototype of an object in careless code, of Routebook or of a caller. */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Frame {
    value: unknown;
    key: string | number;
    level: number;
    parent: Frame | undefined;
}

/** Checks all keys and values, without recursion. False for too deep, too large or no JSON: other rules must not read it. */
export function checkTree(value: unknown, report: Report): boolean {
    const waiting: Frame[] = [{ value, key: '', level: 0, parent: undefined }];
    const texts: { frame: Frame; subject: string; text: string }[] = [];
    let seen = 0;
    let isSound = true;
    for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
        if (report.isFull()) return false;
        seen++;
        const { value: here } = frame;
        if (typeof here !== 'object' || here === null) {
            isSound = checkScalar(frame, report) && isSound;
            if (typeof here === 'string') texts.push({ frame, subject: 'This text', text: here.slice(0, MAX_TEXT) });
            continue;
        }
        const isList = Array.isArray(here);
        const keys = isList ? [] : Object.keys(here);
        const size = isList ? here.length : keys.length;
        if (frame.level >= MAX_LEVELS) {
            report.add(pathTo(frame), 'TOO_COMPLEX', `The package is nested more than ${MAX_LEVELS} levels deep here.`);
            isSound = false;
            continue;
        }
        if (seen + waiting.length + size > MAX_VALUES) {
            report.add(pathTo(frame), 'TOO_COMPLEX', TOO_MANY_VALUES);
            return false;
        }
        checkKeys(frame, keys, report);
        for (const key of keys) texts.push({ frame, subject: 'A key here', text: key.slice(0, MAX_TEXT) });
        const level = frame.level + 1;
        for (let i = size - 1; i >= 0; i--) {
            const key = isList ? i : (keys[i] ?? '');
            waiting.push({ value: (here as Record<string | number, unknown>)[key], key, level, parent: frame });
        }
    }
    // Keys and types repeat: all distinct texts together take a tenth of the time. Only after a find they are scanned one by one.
    if (findSecrets([...new Set(texts.map(({ text }) => text))].join('\n')) !== undefined) {
        for (const { frame, subject, text } of texts) {
            if (report.isFull()) break;
            reportSecret(pathTo(frame), subject, text, report);
        }
    }
    return isSound;
}

function checkScalar(frame: Frame, report: Report): boolean {
    const { value } = frame;
    if (typeof value === 'string') {
        checkText(frame, value, report);
        return true;
    }
    if (value === null || typeof value === 'boolean') return true;
    if (typeof value !== 'number') {
        report.add(pathTo(frame), 'INVALID_TYPE', 'This is not a JSON value.');
        return false;
    }
    // `1e999` is well-formed JSON but parses to Infinity, which JSON cannot express.
    if (!Number.isFinite(value)) report.refuse(pathTo(frame), 'This number is too large for a double.');
    return true;
}

function checkText(frame: Frame, text: string, report: Report): void {
    const isTooLong = isLongerThan(text, MAX_TEXT);
    const fault = isTooLong ? undefined : textProblem(text, { multiline: true });
    if (isTooLong) report.add(pathTo(frame), 'TOO_COMPLEX', `This text is longer than ${MAX_TEXT} bytes.`);
    if (fault !== undefined) report.refuse(pathTo(frame), `The text ${fault}; leave that character out.`);
}

function checkKeys(frame: Frame, keys: readonly string[], report: Report): void {
    for (const key of keys) {
        if (PROTOTYPE_KEYS.has(key))
            report.add([...pathTo(frame), key], 'FORBIDDEN_FIELD', 'A key of this name is not accepted anywhere in a package.');
        const fault = textProblem(key);
        if (fault !== undefined) report.refuse(pathTo(frame), `A key here ${fault}; leave that character out.`);
    }
}

/** Reports that a text contains a secret and of which kind. The message never contains the secret. */
export function reportSecret(path: Path, subject: string, text: string, report: Report): void {
    const secret = findSecrets(text);
    if (secret === undefined || report.has(path, 'SECRET_DETECTED')) return;
    report.add(path, 'SECRET_DETECTED', `${subject} looks like ${secret.kind}: packages are public, so take it out and revoke it.`);
}

function pathTo(frame: Frame): Path {
    const steps: (string | number)[] = [];
    for (let here = frame; here.parent !== undefined; here = here.parent) steps.push(here.key);
    return steps.reverse();
}
