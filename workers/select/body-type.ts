import type { ResponseType } from '../../shared/domain/types.ts';
import { readContentType } from './content-type.ts';
import { bomOf, SEARCHED_BYTES } from './decode.ts';
import { beginsLikeScript } from './script-json.ts';
import { isPacked, unpackedStart } from './unpack.ts';

/**
 * The type of a body: from the package, else from the Content-Type, else from its first bytes. Many sites label JSON as text, a script or
 * HTML. If the endpoint selects from the body, a body that begins like JSON is JSON. The Content-Type of a file of gzip does not name the
 * type of its content.
 */
export function typeOfBody(
    body: Uint8Array,
    contentType: string | undefined,
    { wanted, isTakenApart }: { wanted: ResponseType | undefined; isTakenApart: boolean },
): ResponseType {
    if (wanted !== undefined) return wanted;
    const declared = typeOf(readContentType(contentType).essence);
    if (declared !== undefined && (declared === 'json' || !isTakenApart)) return declared;
    const content = unpackedStart(body);
    if (declared === 'html') return beginsLikeJson(content) ? 'json' : declared;
    const guessed = isTakenApart && beginsLikeScript(startOf(content, 512)) ? 'json' : guessType(content);
    return guessed === 'json' || isPacked(body) ? guessed : (declared ?? guessed);
}

/**
 * The type of a page of a `prepare` step, for which packages declare no type. A page with a form is HTML. JSON is recognized even though
 * many sites label it as HTML.
 * @returns undefined if the Content-Type decides as usual
 */
export function typeOfStep(body: Uint8Array, contentType: string | undefined, { hasForm }: { hasForm: boolean }): ResponseType | undefined {
    if (hasForm) return 'html';
    const { essence } = readContentType(contentType);
    if (/^(?:application|text)\/(?!xhtml)(?:[\w.-]+\+)?xml$/.test(essence)) return 'xml';
    return essence === 'text/html' && guessType(unpackedStart(body)) === 'json' ? 'json' : undefined;
}

function typeOf(essence: string): ResponseType | undefined {
    if (essence === '') return undefined;
    if (/^(?:application|text)\/(?:x-)?json$/.test(essence) || essence.endsWith('+json')) return 'json';
    if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html';
    return 'text';
}

function guessType(body: Uint8Array): ResponseType {
    const start = startOf(body, 256).trimStart();
    if (start === '' || beginsLikeJson(body)) return 'json';
    return start.startsWith('<') ? 'html' : 'text';
}

function beginsLikeJson(body: Uint8Array): boolean {
    return /^\s*[[{]/.test(startOf(body, 256));
}

/** The first bytes of a body as text, behind the blank lines that PHP leaves. Only its ASCII characters count. */
function startOf(body: Uint8Array, bytes: number): string {
    const from = Math.max(
        0,
        body.subarray(0, SEARCHED_BYTES).findIndex((byte) => byte > SPACE),
    );
    return new TextDecoder(bomOf(body) ?? 'latin1').decode(body.subarray(from, from + bytes));
}

const SPACE = 0x20;
