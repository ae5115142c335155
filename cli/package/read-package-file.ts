import { PACKAGE_BYTES } from '../../shared/contracts/body-bytes.ts';
import { roundedNumbers } from '../../shared/domain/json/rounded-numbers.ts';
import type { Detail } from '../../shared/refusals.ts';
import { CommandFault } from '../failures.ts';
import { readInput } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';
import { type Place, positionsOf } from './positions.ts';
import { findSyntaxFault } from './syntax.ts';

/** A package file that was parsed but not validated. */
export interface PackageFile {
    name: string;
    value: unknown;
    /** Numbers that JavaScript rounded in `value`. */
    rounded: Detail[];
    /** The position of the value at a JSON pointer. */
    locate(pointer: string): Place;
}

/** Reads a package from a file, or from stdin for `-`. @throws CommandFault if it is unreadable, not JSON, or too large */
export async function readPackageFile(path: string, terminal: Pick<Terminal, 'readAll'>): Promise<PackageFile> {
    const name = path === '-' ? 'stdin' : path;
    const text = await readInput(path, terminal);
    if (text.length > FILE_LENGTH) throw tooLarge(name, Buffer.byteLength(text));
    let positions: ((pointer: string) => Place) | undefined;
    const value = parse(text, name);
    // The size counts without the whitespace of the layout, which is not sent.
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > PACKAGE_BYTES) throw tooLarge(name, bytes);
    return {
        name,
        value,
        rounded: roundedNumbers(text),
        locate(pointer) {
            positions ??= positionsOf(text);
            return positions(pointer);
        },
    };
}

/** Includes whitespace of the layout. */
const FILE_LENGTH = 8 * PACKAGE_BYTES;

function tooLarge(name: string, bytes: number): CommandFault {
    const message = `${name} has ${bytes} bytes; a package may have at most ${PACKAGE_BYTES}.`;
    return new CommandFault('PAYLOAD_TOO_LARGE', message, { fields: { file: name } });
}

function parse(text: string, name: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        const fault = findSyntaxFault(text);
        const place = fault === undefined ? '' : `:${fault.line}:${fault.column}`;
        throw new CommandFault('INVALID_JSON', `${name}${place} is not well-formed JSON${fault === undefined ? '' : `: ${fault.what}`}.`, {
            fields: { file: name, ...(fault === undefined ? {} : { line: fault.line, column: fault.column }) },
        });
    }
}
