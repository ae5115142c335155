import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { isPlaceInList, saysHowMany } from '../words/describe.ts';
import { hashOf } from '../words/values.ts';

/** For each param: the number of requests that sent it with a value, and in how many of them the response showed each effect. */
export type Effects = Map<string, { sendings: number; shown: Map<Effect, number>; answers: Answers }>;

/** The hash of the items that a value gave, by the hash of the value; of a few values. */
type Answers = Map<number, number>;

type Effect = 'fields' | 'format' | 'limit' | 'limit reached' | 'text';

/** What a description adds about a param whose effect every response showed. */
const MEANINGS: readonly (readonly [Effect, string])[] = [
    ['fields', 'It names fields of the response.'],
    ['format', 'It sets the format of the response.'],
    ['limit', 'No response has more.'],
    ['text', 'Each item of the response contains it.'],
];

const MAX_PARAMS = 60;
const MAX_ANSWERS = 3;
const MAX_ITEMS = 60;
/** Maximum number of texts of an item that are compared. */
const MAX_TEXTS = 200;
const MAX_LENGTH = 80;
/** Shorter texts occur in many others. */
const MIN_TEXT = 3;

/** A response, read once for all params of its request. */
interface Response {
    type: string;
    fields: ReadonlySet<string>;
    /** Undefined if the response has no list. */
    list: { length: number; texts: readonly string[][]; mark: number } | undefined;
}

/** Compares the params of a request with its response. @param type the media type of the response */
export function addEffects(
    effects: Effects,
    sent: readonly (readonly [name: string, value: Json])[],
    type: string,
    json: Json | undefined,
): void {
    if (sent.length === 0) return;
    const response = readResponse(type, json);
    for (const [name, value] of sent) {
        if (typeof value !== 'string' && typeof value !== 'number') continue;
        const text = String(value);
        if (text === '' || text.length > MAX_LENGTH || (effects.size >= MAX_PARAMS && !effects.has(name))) continue;
        const answers: Answers = new Map(response.list === undefined ? [] : [[hashOf(text), response.list.mark]]);
        addShown(effects, name, { sendings: 1, shown: new Map(effectsOf(text, response).map((effect) => [effect, 1])), answers });
    }
}

export function mergeEffects(effects: Effects, more: Effects): void {
    for (const [name, one] of more) addShown(effects, name, one);
}

function addShown(effects: Effects, name: string, { sendings, shown, answers }: ReturnType<Effects['get']> & object): void {
    const known = getOrMake(effects, name, () => ({ sendings: 0, shown: new Map(), answers: new Map() }));
    known.sendings += sendings;
    for (const [effect, count] of shown) known.shown.set(effect, (known.shown.get(effect) ?? 0) + count);
    for (const [value, items] of answers) if (known.answers.size < MAX_ANSWERS) known.answers.set(value, items);
}

/**
 * What a param does, if every response shows it. A limit must have been reached once, by a param with the name of one. The place in a list
 * is shown by lists that differ.
 */
export function meaningOf(effects: Effects, name: string): string | undefined {
    const { sendings = 0, shown = new Map<Effect, number>(), answers = new Map<number, number>() } = effects.get(name) ?? {};
    const isLimit = shown.has('limit reached') && saysHowMany(name);
    const meaning = MEANINGS.find(([effect]) => shown.get(effect) === sendings && (effect !== 'limit' || isLimit))?.[1];
    const differ = isPlaceInList(name) && answers.size > 1 && new Set(answers.values()).size === answers.size;
    return meaning ?? (differ ? 'Another value gives another list.' : undefined);
}

function readResponse(type: string, json: Json | undefined): Response {
    const list = json === undefined ? undefined : listIn(json);
    const items = (list ?? (json === undefined ? [] : [json])).slice(0, MAX_ITEMS);
    return {
        type,
        fields: new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item) : []))),
        list: list && { length: list.length, texts: items.map(textsOf), mark: hashOf(JSON.stringify(items)) },
    };
}

function effectsOf(text: string, { type, fields, list }: Response): Effect[] {
    const found: Effect[] = [];
    const [named = '', ...others] = text.split(/[\s,]+/).map((part) => part.replace(/^[-+]/, ''));
    if (fields.has(named) && others.every((part) => fields.has(part) || /^(?:asc|desc)$/i.test(part))) found.push('fields');
    if (/^[a-z]{3,}$/.test(text) && type.split(/\W/).includes(text)) found.push('format');
    if (list === undefined) return found;
    const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
    if (list.length <= limit) found.push('limit');
    if (list.length === limit) found.push('limit reached');
    const wanted = text.toLowerCase();
    const isText = wanted.length >= MIN_TEXT && /[^\d\W]/.test(text) && list.length > 0;
    if (isText && list.texts.every((texts) => texts.some((one) => one.includes(wanted)))) found.push('text');
    return found;
}

/** The first texts of an item, in lower case. */
function textsOf(item: Json): string[] {
    const texts: string[] = [];
    const waiting: Json[] = [item];
    for (let value = waiting.shift(); value !== undefined && texts.length < MAX_TEXTS; value = waiting.shift()) {
        if (typeof value === 'string') texts.push(value.toLowerCase());
        else if (typeof value === 'object' && value !== null && waiting.length < MAX_TEXTS) waiting.push(...Object.values(value));
    }
    return texts;
}

/** The first list of a response, at its top or in one of its fields. */
function listIn(json: Json, level = 0): readonly Json[] | undefined {
    if (Array.isArray(json)) return json;
    if (!isObject(json) || level > 1) return undefined;
    for (const inside of Object.values(json)) {
        const found = listIn(inside, level + 1);
        if (found !== undefined) return found;
    }
    return undefined;
}
