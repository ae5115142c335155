import type { Group } from '../routes/groups.ts';
import { identifier } from '../words/identifier.ts';
import { isApiRoot, isPlural, isRange, type Piece, PROGRAM_SUFFIX, type SegmentForm, singular } from '../words/segments.ts';
import { isVerb, isVerbWithObject, saysChange } from '../words/verbs.ts';

const NAME_BY_FORM: Readonly<Record<Exclude<SegmentForm, 'word'>, string>> = {
    number: 'id',
    uuid: 'id',
    hash: 'id',
    token: 'id',
    date: 'date',
    version: 'version',
    code: 'code',
    locale: 'locale',
    file: 'file',
    slug: 'slug',
    text: 'text',
};

/**
 * Names the placeholders of a path, in order: after the literal before them (`/posts/7` → `post_id`, `/labels/job` → `label`), or after
 * their form if no literal precedes. A range has `from` and `to`. All names differ from each other and from `taken`.
 */
export function nameParams(segments: readonly Piece[], taken: ReadonlySet<string>): string[] {
    const used = new Set(taken);
    const names: string[] = [];
    for (const [place, piece] of segments.entries()) {
        if (piece.form === 'word') continue;
        const wanted = isRange(piece)
            ? ['from', 'to']
            : [partOfDate(segments, place) ?? wantedName(piece, piece.form, segments[place - 1], segments.slice(0, place))];
        for (const one of wanted) {
            const name = makeUnique(one, used);
            used.add(name);
            names.push(name);
        }
    }
    return names;
}

/** The part of a date that a number is: `/2026/11/30/…`, `/2026/11`. */
function partOfDate(segments: readonly Piece[], place: number): string | undefined {
    const isYear = (at: number) => isNumber(segments[at], /^(?:19|20)\d{2}$/) && isNumber(segments[at + 1], /^(?:0?[1-9]|1[0-2])$/);
    const isPart = isNumber(segments[place], /^(?:0?[1-9]|[12]\d|3[01])$/);
    if (isYear(place)) return 'year';
    if (isYear(place - 1)) return 'month';
    return isPart && isYear(place - 2) ? 'day' : undefined;
}

function isNumber(piece: Piece | undefined, like: RegExp): boolean {
    return piece?.form === 'number' && piece.prefix === '' && piece.suffix === '' && like.test(piece.core);
}

function wantedName(piece: Piece, form: Exclude<SegmentForm, 'word'>, before: Piece | undefined, all: readonly Piece[]): string {
    const own = NAME_BY_FORM[form];
    if (piece.prefix === '@') return 'scope';
    const literal = before?.form === 'word' && !isApiRoot(before.core) ? identifier(singular(before.core)) : '';
    if (form === 'date' || form === 'version' || form === 'file' || form === 'locale') return own;
    if (literal === '') return all.length === 0 || own === 'id' ? (own === 'slug' ? 'name' : own) : own === 'slug' ? 'name' : own;
    if (/^(?:search|find|lookup|autocomplete|suggest|typeahead)$/.test(literal)) return 'text';
    return own === 'id' && !literal.endsWith('id') ? `${literal}_id` : literal;
}

function makeUnique(name: string, used: ReadonlySet<string>): string {
    for (let count = 1; ; count++) {
        const candidate = count === 1 ? name : `${name}_${count}`;
        if (!used.has(candidate)) return candidate;
    }
}

/**
 * Chooses a name that says what the endpoint does (`^[a-z][a-z0-9_]{0,63}$`) and adds it to `used`: the first of `wanted` and `others` that
 * is free. If none is free, a number is appended.
 */
export function nameEndpoint(wanted: string, used: Set<string>, others: readonly string[] = []): string {
    const names = [wanted, ...others].map((one) => identifier(one).slice(0, 58) || 'call');
    const name = names.find((one) => !used.has(one)) ?? makeUnique(names[0] ?? 'call', used);
    used.add(name);
    return name;
}

/**
 * Names that distinguish an endpoint from another one with the same name: with the last param of its path (`get_node_by_name`), or with its
 * host.
 */
export function otherEndpointNames(plain: string, group: Group, pathParams: readonly string[]): string[] {
    const last = pathParams.at(-1);
    const [host = ''] = new URL(group.origin).hostname.split('.');
    return [...(last === undefined ? [] : [`${plain}_by_${last}`]), `${plain}_${host}`];
}

const VERBS: Readonly<Record<string, string>> = {
    POST: 'create',
    PUT: 'replace',
    PATCH: 'update',
    DELETE: 'delete',
    HEAD: 'check',
    GET: 'get',
};

/** Last words of a path that name an action. */
const ACTIONS =
    /^(?:query|search|find|lookup|validate|verify|check|preview|render|convert|translate|calculate|estimate|refresh|sync|publish|send|cancel|import|export|upload|run|start|stop|count|batch|bulk)$/i;

/** Names of programs that are calls in themselves, such as `getAlbum`. */
const CALLS = /^(?:[Gg]et|[Ll]ist|[Ff]ind|[Ff]etch|[Ss]how|[Dd]escribe)(?=[A-Z_-])/;

/**
 * The name of a script that serves many addresses says nothing about them: `index.php`, or `wiki.php?do=search`, where a param names the
 * action. Nor does the folder of such scripts.
 */
function wordsOfPath({ segments, dispatch }: Group): Piece[] {
    return segments
        .filter(({ form, core }) => form === 'word' && core !== '' && core !== 'cgi-bin' && !isApiRoot(core))
        .filter(({ core }) => !PROGRAM_SUFFIX.test(core) || (dispatch.length === 0 && !/^index\./i.test(core)))
        .map((piece) => ({ ...piece, core: piece.core.replace(PROGRAM_SUFFIX, '') }));
}

/** The last word of a path that has no others, such as `data` of `/api/v1/data`. */
function wordOfApi({ segments }: Group): string | undefined {
    return segments.findLast(({ form, core }) => form === 'word' && core !== '' && !PROGRAM_SUFFIX.test(core))?.core;
}

function choiceOf({ dispatch, selector }: Group): string[] {
    return [...dispatch.map(([name, value]) => value || name), ...(selector === undefined ? [] : [selector])];
}

/** The words of a route that name its endpoint: literals of its path, and the values that select its action. */
export function namingWordsOf(group: Group): string[] {
    return [...wordsOfPath(group).map(({ core }) => core), ...choiceOf(group)];
}

/** Names an endpoint after the literals of its path, or after its subject if only pages name it. */
export function wantedEndpointName(group: Group, kind: { isSearch: boolean; isForm: boolean; givesList: boolean }, thing?: string): string {
    if (thing !== undefined) return `${kind.isSearch ? 'search' : kind.isForm ? 'submit' : 'open'}_${thing}`;
    const { operation } = group;
    const overrides = operation?.protocol === 'override';
    if (operation !== undefined && !overrides) return operation.name;
    const words = wordsOfPath(group);
    const last = group.segments.findLast(({ form, core }) => form !== 'word' || core !== '');
    const endsWithParam = last !== undefined && last.form !== 'word';
    const isSingle = endsWithParam || group.method !== 'GET';
    const things = words.map(({ core }, index) => {
        const isLast = index === words.length - 1;
        return (isLast ? isSingle : isPlural(core)) ? singular(core) : core;
    });
    const choice = choiceOf(group);
    const object = [...things.slice(-3), ...choice].join('_') || (endsWithParam ? 'item' : (wordOfApi(group) ?? 'home'));
    if (kind.isSearch)
        return /search/i.test(object) ? object : `search_${[...words.map(({ core }) => core).slice(-2), ...choice].join('_') || 'site'}`;
    if (kind.isForm && !overrides) return `submit_${object}`;
    if (group.method === 'POST' && !overrides && ACTIONS.test(things.at(-1) ?? '')) return object;
    const call = words.at(-1)?.core ?? '';
    // The action may follow the thing: `POST /flows/{id}/kill`.
    if (group.method === 'POST' && !overrides && !endsWithParam && isVerb(call))
        return [call, ...things.slice(-3, -1), ...choice].join('_');
    // Or one word names both: `POST /rn-add-page`, `POST /savemap`.
    if (group.method === 'POST' && !overrides && !endsWithParam && isVerbWithObject(call)) return [call, ...choice].join('_');
    if (group.method === 'GET' && choice.some((one) => CALLS.test(one))) return choice.join('_');
    if (group.method === 'GET' && (CALLS.test(call) || saysChange(call))) return object;
    if (group.answers.html > 0 && group.method === 'GET') return `open_${object}`;
    if (group.method === 'GET' && !endsWithParam && (kind.givesList || isPlural(words.at(-1)?.core ?? ''))) return withVerb('list', object);
    return withVerb(VERBS[overrides ? operation.name : group.method] ?? 'call', object);
}

/** Names of programs that contain the action: `GET /getmap`, `POST /createdir`, but not `GET /listings`. */
function withVerb(verb: string, object: string): string {
    const says = new RegExp(`^${verb}_?(?!e?[dsr](?:_|$)|ings?(?:_|$)|en|er|or|ion)[a-z]{3}`, 'i');
    return says.test(object) ? object : `${verb}_${object}`;
}
