import type { Detail, DetailCode } from '../../../refusals.ts';
import { escapePointer } from '../../json/json-bounds.ts';
import { findSecrets } from '../secrets-scan.ts';

/** A place in a package: keys and indices, beginning at the outermost object. */
export type Path = readonly (string | number)[];

/** The problems of one package. At most `MAX_PROBLEMS` are reported, so that the answer stays readable. */
export interface Report {
    readonly problems: Detail[];
    add(path: Path, code: DetailCode, message: string): void;
    /** Adds an INVALID_VALUE. @param fault why the value is refused; undefined if it is allowed */
    refuse(path: Path, fault: string | undefined): void;
    /** Adds problems that were found elsewhere. Their pointers are already complete. */
    addAll(found: readonly Detail[]): void;
    has(path: Path, code: DetailCode): boolean;
    /** Whether the report takes no more problems. */
    isFull(): boolean;
}

const MAX_PROBLEMS = 500;

export function createReport(): Report {
    const problems: Detail[] = [];
    const add: Report['add'] = (path, code, message) => {
        if (problems.length < MAX_PROBLEMS) problems.push({ path: pointerTo(path), code, message });
    };
    return {
        problems,
        add,
        refuse(path, fault) {
            if (fault !== undefined) add(path, 'INVALID_VALUE', fault);
        },
        addAll(found) {
            for (const { path, code, message } of found.slice(0, MAX_PROBLEMS - problems.length)) {
                problems.push({ path: path.split('/').map(printable).join('/'), code, message });
            }
        },
        has(path, code) {
            const pointer = pointerTo(path);
            return problems.some((problem) => problem.code === code && problem.path === pointer);
        },
        isFull: () => problems.length >= MAX_PROBLEMS,
    };
}

/** The JSON pointer of `path`. Keys that look like a secret or are unreadable are not repeated. */
export function pointerTo(path: Path): string {
    return path.map((step) => `/${typeof step === 'number' ? step : escapePointer(printable(step))}`).join('');
}

/** A name from a package in the form in which a message may repeat it. */
export function quoted(name: string): string {
    return `"${printable(name)}"`;
}

/** Most steps of pointers are field names of the format itself. They are no secrets and are not scanned. */
const PLAIN_WORD = /^[a-z_]{1,14}$/;

function printable(text: string): string {
    if (PLAIN_WORD.test(text)) return text;
    if (findSecrets(text) !== undefined) return '…';
    const readable = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
    return readable.length > 100 ? `${readable.slice(0, 100).toWellFormed()}…` : readable;
}
