import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../shared/domain/types.ts';
import { saysHowMany } from './describe.ts';

/** How many requests sent a param with a value, and in how many of them the answer showed what the value does. */
export type Effects = Map<string, { sendings: number; shown: Map<Effect, number> }>;

type Effect = 'fields' | 'format' | 'limit' | 'reached' | 'words';

const MEANINGS: readonly { effect: Effect; means: string; needs?: Effect }[] = [
    { effect: 'fields', means: 'It names fields of the answers.' },
    { effect: 'format', means: 'The answers have the format that it says.' },
    { effect: 'limit', means: 'The answers have at most so many items.', needs: 'reached' },
    { effect: 'words', means: 'Each item of the answers has it.' },
];

const MAX_PARAMS = 60;
const MAX_ITEMS = 60;
const MAX_LENGTH = 80;
/** Shorter words stand in many texts. */
const MIN_WORDS = 3;

/** Compares the params of a request with its answer. @param type the media type of the answer */
export function addEffects(
    effects: Effects,
    sent: Iterable<readonly [name: string, value: Json]>,
    type: string,
    json: Json | undefined,
): void {
    const items = json === undefined ? undefined : listIn(json);
    for (const [name, value] of sent) {
        if (typeof value !== 'string' && typeof value !== 'number') continue;
        const text = String(value);
        if (text === '' || text.length > MAX_LENGTH || (effects.size >= MAX_PARAMS && !effects.has(name))) continue;
        const known = effects.get(name) ?? { sendings: 0, shown: new Map() };
        effects.set(name, known);
        known.sendings++;
        for (const effect of effectsOf(text, type, items ?? (json === undefined ? [] : [json]), items !== undefined))
            known.shown.set(effect, (known.shown.get(effect) ?? 0) + 1);
    }
}

export function mergeEffects(effects: Effects, more: Effects): void {
    for (const [name, { sendings, shown }] of more) {
        const known = effects.get(name) ?? { sendings: 0, shown: new Map() };
        effects.set(name, known);
        known.sendings += sendings;
        for (const [effect, count] of shown) known.shown.set(effect, (known.shown.get(effect) ?? 0) + count);
    }
}

/** What a param does, if all answers show it. */
export function meaningOf(effects: Effects, name: string): string | undefined {
    const { sendings = 0, shown = new Map<Effect, number>() } = effects.get(name) ?? {};
    const isShown = ({ effect, needs }: (typeof MEANINGS)[number]) =>
        shown.get(effect) === sendings && (needs === undefined || (shown.has(needs) && saysHowMany(name)));
    return MEANINGS.find(isShown)?.means;
}

function effectsOf(text: string, type: string, items: readonly Json[], isList: boolean): Effect[] {
    const found: Effect[] = [];
    const looked = items.slice(0, MAX_ITEMS);
    const fields = new Set(looked.flatMap((item) => (isObject(item) ? Object.keys(item) : [])));
    const [named = '', ...others] = text.split(/[\s,]+/).map((part) => part.replace(/^[-+]/, ''));
    if (fields.has(named) && others.every((part) => fields.has(part) || /^(?:asc|desc)$/i.test(part))) found.push('fields');
    if (/^[a-z]{3,}$/.test(text) && type.split(/\W/).includes(text)) found.push('format');
    if (!isList) return found;
    const most = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
    if (items.length <= most) found.push('limit');
    if (items.length === most) found.push('reached');
    const words = text.toLowerCase();
    if (words.length >= MIN_WORDS && /[^\d\W]/.test(text) && looked.length > 0 && looked.every((item) => says(item, words)))
        found.push('words');
    return found;
}

/** Whether a text of an item has the words. */
function says(item: Json, words: string, level = 0): boolean {
    if (typeof item === 'string') return item.toLowerCase().includes(words);
    if (typeof item !== 'object' || item === null || level > 3) return false;
    return Object.values(item)
        .slice(0, MAX_ITEMS)
        .some((inside) => says(inside, words, level + 1));
}

/** The first list of an answer, at its top or in one of its fields. */
function listIn(json: Json, level = 0): readonly Json[] | undefined {
    if (Array.isArray(json)) return json;
    if (!isObject(json) || level > 1) return undefined;
    for (const inside of Object.values(json)) {
        const found = listIn(inside, level + 1);
        if (found !== undefined) return found;
    }
    return undefined;
}
