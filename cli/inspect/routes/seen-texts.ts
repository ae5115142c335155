import type { Json } from '../../../shared/domain/types.ts';
import { wordsOf } from '../words/harmless.ts';
import { hashOf } from '../words/values.ts';

/**
 * Hashes of texts that occurred as values in requests and responses. A path segment with such a text is probably a value too. The number of
 * texts is bounded, and no text can be recovered.
 */
export interface SeenTexts {
    remember(value: Json): void;
    wasSaid(text: string): boolean;
    /** Whether the text occurred as the name of a person or an item. */
    wasName(text: string): boolean;
    /** Remembers the values of a query. */
    rememberSent(query: URLSearchParams): void;
    /** Whether the text was sent in a query, or as the param `name`. */
    wasSent(text: string, name?: string): boolean;
}

const MAX_TEXTS = 200_000;
const MAX_LENGTH = 80;
const MAX_LEVELS = 8;
const NAMING: ReadonlySet<string> = new Set([
    'username',
    'user',
    'login',
    'handle',
    'nick',
    'nickname',
    'name',
    'slug',
    'owner',
    'author',
    'account',
    'member',
    'mail',
    'email',
    'u',
]);

/** Starts empty. After 200,000 texts no more are stored. */
export function createSeenTexts(): SeenTexts {
    const hashes = new Set<number>();
    const names = new Set<number>();
    const sent = new Set<number>();
    const remember = (value: Json, level: number, isName: boolean): void => {
        if (typeof value === 'string') {
            if (value === '' || value.length > MAX_LENGTH || hashes.size >= MAX_TEXTS) return;
            hashes.add(hashOf(value));
            if (isName) names.add(hashOf(value));
            return;
        }
        if (level > MAX_LEVELS || typeof value !== 'object' || value === null) return;
        if (Array.isArray(value)) for (const item of value) remember(item, level + 1, isName);
        else
            for (const [key, item] of Object.entries(value))
                remember(
                    item,
                    level + 1,
                    wordsOf(key).some((word) => NAMING.has(word)),
                );
    };
    return {
        remember: (value) => remember(value, 0, false),
        wasSaid: (text) => hashes.has(hashOf(text)),
        wasName: (text) => names.has(hashOf(text)),
        rememberSent(query) {
            for (const [name, value] of query)
                if (value.length <= MAX_LENGTH && sent.size < MAX_TEXTS) sent.add(hashOf(value)).add(hashOf(`${name}=${value}`));
        },
        wasSent: (text, name) => sent.has(hashOf(name === undefined ? text : `${name}=${text}`)),
    };
}
