import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { Shape } from './document.ts';
import type { Random } from './random.ts';

/** Generates a valid value of a schema. It cannot generate values for a pattern; the fixture has those. */
export function valueFor(shape: Shape, random: Random, where: string): Json {
    if (shape.const !== undefined) return shape.const;
    if (shape.enum !== undefined) return random.pick(shape.enum);
    if (shape.anyOf !== undefined) return valueFor(random.pick(shape.anyOf), random, where);
    const type = Array.isArray(shape.type) ? random.pick(shape.type) : shape.type;
    switch (type) {
        case 'integer':
            return random.int(shape.minimum ?? -1000, Math.min(shape.maximum ?? 1000, (shape.minimum ?? 0) + 100_000));
        case 'boolean':
            return random.chance(0.5);
        case 'string':
            if (shape.pattern !== undefined)
                throw new Error(`${where} has a pattern: give its values in test/support/generate/generator-world.ts`);
            return random.words(random.int(shape.minLength ?? 0, Math.min(shape.maxLength ?? 60, 60)));
        case 'object':
            return objectOf(shape, random, where);
        default:
            throw new Error(`${where}: no values are made for ${JSON.stringify(shape)}`);
    }
}

function objectOf({ properties = {}, required = [] }: Shape, random: Random, where: string): JsonObject {
    const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.4));
    return Object.fromEntries(chosen.map(([name, shape]) => [name, valueFor(shape, random, `${where}/${name}`)]));
}

/** Invalid values of a schema, by what is wrong with them. */
export function wrongValues(shape: Shape): Record<string, Json> {
    if (shape.anyOf !== undefined) return { 'a value of no choice': [], null: null };
    const wrong: Record<string, Json> = { null: null };
    if (shape.type !== 'string') wrong['a text'] = 'text';
    if (shape.type !== 'integer') wrong['a number'] = 1;
    if (shape.type !== 'boolean') wrong['a boolean'] = true;
    if (shape.type !== 'object') wrong['an object'] = {};
    wrong['an array'] = [];
    if (shape.type === 'integer') {
        wrong['a fraction'] = 1.5;
        wrong['a number in quotes'] = '1';
        if (shape.minimum !== undefined) wrong['too small a number'] = shape.minimum - 1;
        if (shape.maximum !== undefined) wrong['too large a number'] = shape.maximum + 1;
    }
    if (shape.enum !== undefined) wrong['an unknown choice'] = 'nothing_of_this_kind';
    if ((shape.minLength ?? 0) > 0) wrong['an empty text'] = '';
    if (shape.maxLength !== undefined) wrong['too long a text'] = 'x'.repeat(shape.maxLength + 1);
    if (shape.type === 'string') {
        wrong['a text with NUL'] = 'some\u0000text that is otherwise long enough to be fine';
        wrong['half a surrogate pair'] = 'some\ud800text that is otherwise long enough to be fine';
        wrong['a control character'] = 'some\u0085text that is otherwise long enough to be fine';
        wrong['a huge text'] = 'x'.repeat(70_000);
    }
    if (shape.type === 'object') {
        wrong['deep JSON'] = deep(40);
        wrong['a key with NUL'] = { 'a\u0000b': 1 };
        wrong['too many keys'] = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`k${index}`, 1]));
    }
    return wrong;
}

/** Percent-encoded query values that are invalid for a schema. */
export function wrongTexts(shape: Shape): Record<string, string> {
    const wrong: Record<string, string> = { 'a NUL': 'a%00b', 'a control character': 'a%C2%85b' };
    if (shape.type === 'integer') {
        Object.assign(wrong, { 'no number': 'many', 'a fraction': '1.5', 'an empty text': '', 'a number past all bounds': '1e400' });
        if (shape.minimum !== undefined) wrong['too small a number'] = String(shape.minimum - 1);
        if (shape.maximum !== undefined) wrong['too large a number'] = String(shape.maximum + 1);
    }
    if (shape.type === 'boolean') Object.assign(wrong, { 'no boolean': 'maybe', 'a number': '1', 'an empty text': '' });
    if (shape.enum !== undefined) wrong['an unknown choice'] = 'nothing_of_this_kind';
    if (shape.pattern !== undefined) wrong['a wrong form'] = '!!';
    if (shape.maxLength !== undefined) wrong['too long a text'] = 'x'.repeat(shape.maxLength + 1);
    return wrong;
}

/** Nested objects with this many levels. */
export function deep(levels: number): Json {
    let value: Json = 1;
    for (let level = 0; level < levels; level++) value = { a: value };
    return value;
}
