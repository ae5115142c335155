import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Extract, JsonObject, PackageEndpoint } from '../../../shared/domain/types.ts';
import type { PagePart } from '../pages/form-facts.ts';
import type { TokenSources } from '../pages/page-tokens.ts';
import type { Group } from '../routes/groups.ts';
import { identifier } from '../words/identifier.ts';
import { DISPATCHERS } from '../words/is-dispatch.ts';
import { isRange, isVarying, textOf } from '../words/segments.ts';
import { isValueAsKey } from '../words/shape.ts';
import { hashOf, type Values } from '../words/values.ts';
import type { Request } from './params.ts';

/** docs/api.md, "Schema packages". */
const MAX_EXTRACTS = 20;

/**
 * How a form with hidden inputs is sent whose page or action varies: its page is opened with the params of the call, and what its hidden
 * inputs have there is sent along. `undefined` if the page has values that the form's address does not say, or an input that no selector finds.
 */
export function sendWithHidden(
    group: Group,
    { params, body }: Pick<Request, 'params' | 'body'>,
    tokens: TokenSources,
): Pick<PackageEndpoint, 'prepare' | 'body'> | undefined {
    const { form } = group;
    const own = form?.selector === undefined ? undefined : pageOf(group, params);
    // Other pages that all visitors see have the same token.
    const sources = [...(form?.tokens ?? [])].flatMap(([, hash]) => tokens.get(hash) ?? []);
    const url = own ?? sources[0]?.page;
    if (form === undefined || form.filled.size > MAX_EXTRACTS) return undefined;
    const extract: Record<string, Extract> = {};
    const inside: JsonObject = isObject(body) ? { ...body } : {};
    // An input of the same name that a visitor can change is a field: frameworks put a hidden one before each checkbox.
    for (const [place, [name, values]] of [...form.hidden].filter(([one]) => !form.fields.has(one)).entries()) {
        if (!/^[\w[\].:-]{1,64}$/.test(name) || name.split(/[[\].:]+/).some((part) => part !== '' && isValueAsKey(part))) return undefined;
        const key = identifier(name) === '' || Object.hasOwn(extract, identifier(name)) ? `hidden_${place}` : identifier(name);
        const mark = own === undefined ? markOf(name, values) : undefined;
        const isExtracted = form.filled.has(name) && mark === undefined;
        if (isExtracted && own === undefined && !form.tokens.has(name)) return undefined;
        if (isExtracted)
            extract[key] = { selector: `${own === undefined ? 'input' : `${form.selector} `}[name="${name}"]`, value: 'value' };
        // A call fails if nothing is found to send, so an input that may be empty is sent without a value.
        inside[name] = isExtracted ? `{prepare.${key}}` : (mark ?? '');
    }
    if (url === undefined) return Object.keys(extract).length === 0 ? { body: inside } : undefined;
    return { ...(Object.keys(extract).length === 0 ? {} : { prepare: { url, extract } }), body: inside };
}

/** What a hidden input has on all pages: a word that the program repeats, or a mark that its form was sent. */
export function markOf(name: string, { different, words, others, sendings }: Values): string | undefined {
    const [word, count = 0] = [...words][0] ?? [];
    if (word !== undefined && words.size === 1 && others === 0 && count === sendings && (count >= MIN_REPEATED || DISPATCHERS.test(name)))
        return word;
    return different.size === 1 ? ['0', '1'].find((mark) => different.has(hashOf(JSON.stringify(mark)))) : undefined;
}

/** On so many pages a word is that of the program. */
const MIN_REPEATED = 3;

/** The template of the page's address, with params of the call where the form's address has them. */
function pageOf({ origin, segments, dispatch, form }: Group, params: Request['params']): string | undefined {
    const { standing } = form ?? {};
    // The values of a page and of its form's address may be equal by chance, such as the id of a thread and of its first message.
    if (standing === undefined || form?.strange.has(standing.path.length) === true) return undefined;
    const names = params.filter(({ source }) => source === 'path').map(({ name }) => name);
    const bySegment = new Map(segments.flatMap((piece, place) => (isVarying(piece) ? ([[place, names.shift() ?? '']] as const) : [])));
    if (segments.some(isRange)) return undefined;
    const part = ({ text, segment, param }: PagePart): string | undefined => {
        const piece = segment === undefined ? undefined : segments[segment];
        const name = bySegment.get(segment ?? -1);
        if (piece !== undefined && name !== undefined) return textOf(piece).replace('{}', `{${name}}`);
        if (param === undefined || dispatch.some(([one]) => one === param)) return encodeURIComponent(text);
        const isParam = /^[A-Za-z_]\w*$/.test(param) && params.some((one) => one.source === 'query' && one.name === param);
        return isParam ? `{${param}}` : undefined;
    };
    const path = standing.path.map((one) => (one.text === '' ? '' : part(one)));
    const pairs = standing.query.map((one) => {
        const value = part(one);
        return value === undefined ? undefined : `${encodeURIComponent(one.name)}=${value}`;
    });
    if ([...path, ...pairs].includes(undefined)) return undefined;
    return `${origin}/${path.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
