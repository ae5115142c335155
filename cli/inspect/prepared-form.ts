import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { Extract, JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import type { PagePart } from './form-facts.ts';
import type { Group } from './groups.ts';
import { identifier } from './identifier.ts';
import type { Request } from './params.ts';
import { isRange, isVarying, textOf } from './segments.ts';
import { isValueAsKey } from './shape.ts';

/** docs/api.md, "Schema packages". */
const MAX_EXTRACTS = 20;

/**
 * How a form with hidden inputs is sent whose page or action varies: its page is opened with the params of the call, and what its hidden
 * inputs have there is sent along. `undefined` if the page has values that the form's address does not say, or an input that no selector finds.
 */
export function sendWithHidden(
    group: Group,
    { params, body }: Pick<Request, 'params' | 'body'>,
): Required<Pick<PackageEndpoint, 'prepare' | 'body'>> | undefined {
    const { form } = group;
    const url = pageOf(group, params);
    if (form?.selector === undefined || form.isMixed || url === undefined || form.filled.size > MAX_EXTRACTS) return undefined;
    const extract: Record<string, Extract> = {};
    const inside: JsonObject = isObject(body) ? { ...body } : {};
    // An input of the same name that a visitor can change is a field: frameworks put a hidden one before each checkbox.
    for (const [place, name] of [...form.hidden].filter((one) => !form.fields.has(one)).entries()) {
        if (!/^[\w[\].:-]{1,64}$/.test(name) || name.split(/[[\].:]+/).some((part) => part !== '' && isValueAsKey(part))) return undefined;
        const key = identifier(name) === '' || Object.hasOwn(extract, identifier(name)) ? `hidden_${place}` : identifier(name);
        if (form.filled.has(name)) extract[key] = { selector: `${form.selector} [name="${name}"]`, value: 'value' };
        // A call fails if nothing is found to send, so an input that may be empty is sent without a value.
        inside[name] = form.filled.has(name) ? `{prepare.${key}}` : '';
    }
    return { prepare: { url, extract }, body: inside };
}

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
