import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import { isProgramWord, isSpecialPage, personalKind } from './harmless.ts';
import { saysChange } from './verbs.ts';

/** The kind of a path segment, by its form. A `word` may be part of the route or a value; more samples are needed to decide. */
export type SegmentForm = 'word' | 'number' | 'uuid' | 'hash' | 'date' | 'version' | 'code' | 'locale' | 'token' | 'file' | 'slug' | 'text';

/** A path segment as a template shows it: literal text around the varying part. */
export interface Piece {
    form: SegmentForm;
    /**
     * The text before and after the varying part: `@` of `@ada`, `.json` of `5.json`; '' for most. For a word, `core` is the text itself.
     */
    prefix: string;
    core: string;
    suffix: string;
    /** Whether requests of its group had several values here. `core` is the first. */
    isSeveral?: true;
}

/** A path segment as it appears in a route template. */
export function textOf(piece: Piece | undefined): string {
    if (piece === undefined) return '';
    return piece.form === 'word' ? piece.core : `${piece.prefix}{}${piece.suffix}`;
}

/** Whether a segment contains a value instead of a word of the route. */
export function isVarying({ form }: Piece): boolean {
    return form !== 'word';
}

/** Suffixes of programs. What stands before one names a part of the program, and never a thing of its users. */
export const PROGRAM_SUFFIX = /\.(?:php\d?|as[hmp]x|asp|cfm|jsp[ax]?|jsf|faces|do|f?cgi|pl|action|view|xsl)$/i;
/** Suffixes that request a response format. */
const FORMAT_SUFFIX = new RegExp(`\\.(?:json|js|data|html?|xml|rss|atom|csv|txt)$|${PROGRAM_SUFFIX.source}`, 'i');

/** Two values with dots between them: the numbers `0..20`, or the branches `main...fog`. */
const RANGE = /^([\w-]+)(\.{2,3})([\w-]+)$/;

/** Whether a segment has two values, the second one in its suffix. */
export function isRange({ suffix }: Piece): boolean {
    return suffix.endsWith('{}');
}

/** The values of a recorded segment. */
export function valuesIn(piece: Piece, raw: string): string[] {
    if (isRange(piece)) return raw.split(piece.suffix.slice(0, -'{}'.length));
    return [raw.slice(piece.prefix.length, raw.length - piece.suffix.length)];
}

/**
 * Whether a segment is a method of a remote service: behind the service with its package (`/boats.v1.BoatService/GetBoat`), or a dotted name
 * below the root of calls (`/trpc/boat.byId`).
 */
function isMethod(raw: string, before: string): boolean {
    if (SERVICE.test(raw)) return true;
    return (SERVICE.test(before) && /^[A-Z][A-Za-z]+$/.test(raw)) || (/^\w*rpc$/i.test(before) && /^[a-z]\w*(?:\.[a-z]\w*)+$/i.test(raw));
}

/** A service with its package, as gRPC and its relatives write it. */
const SERVICE = /^(?:[a-z]\w*\.)+[A-Z][a-z]\w*$/;

/** Whether a word behind a colon is what is done with the thing before it: `/v1/queues/7:cancel`, `/v1/boats:batchGet`. */
function isAct(word: string): boolean {
    return (
        saysChange(word) ||
        /^(?:batch|bulk|count|export|generate|get|list|lookup|predict|query|run|search|stream|test|validate)(?![a-z])/.test(word)
    );
}

/** A suffix after a hash is the format of the thing with that hash: `/commit/3fa9c2e.diff`. */
const HASH_SUFFIX = /(?<=^(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,128})\.[a-z]{2,6}$/;

/** One of a kind by its key: `Books(201)`, `Books(ID=201,IsActiveEntity=true)`, `Currencies('EUR')`. */
const KEY = /^([A-Za-z][\w.]*\((?:\w+=)?'?)([^'(),=]+)('?(?:,\w+=(?:true|false))*\))$/;

/**
 * Reads one percent-encoded segment of a path.
 * @param place its index in the path. `1.0` at the beginning is the version of an API; later it is a value.
 */
export function readSegment(raw: string, place: number, path: readonly string[] = []): Piece {
    // OData has keys in parentheses, and begins its own words with `$`. Other programs begin theirs with `+`.
    if (/^[$+][a-z]+$/i.test(raw) || isSpecialPage(percentDecode(raw)) || isMethod(raw, path[place - 1] ?? ''))
        return { form: 'word', prefix: '', core: raw, suffix: '' };
    const [, subject = '', act = ''] = /^([\w.~-]+)(:[a-z][A-Za-z]*)$/.exec(raw) ?? [];
    if (isAct(act.slice(1)) && path.slice(0, place).some((before) => /^v\d/.test(before))) {
        const piece = readSegment(subject, place, path);
        return piece.form === 'word' ? { ...piece, core: raw } : { ...piece, suffix: piece.suffix + act };
    }
    const [, prefix, key, rest = ''] = KEY.exec(raw) ?? [];
    if (prefix !== undefined && key !== undefined) {
        const keyForm = formOf(percentDecode(key), place);
        return { form: keyForm === 'word' ? 'slug' : keyForm, prefix, core: key, suffix: rest };
    }
    const [, from, dots = '', to = ''] = RANGE.exec(raw) ?? [];
    if (from !== undefined) return { form: rangeForm(from, to), prefix: '', core: from, suffix: `${dots}{}` };
    const text = percentDecode(raw);
    const mark = /^[@~]/.exec(raw)?.[0] ?? '';
    if (mark !== '' && raw.length > 1 && !/[/%]/.test(raw)) return { form: 'slug', prefix: mark, core: raw.slice(1), suffix: '' };
    // Domains of Poland end like programs in Perl, which stand at the root or in their own folder.
    if (/.\.pl$/i.test(raw) && place > 0 && !path.includes('cgi-bin')) return { form: 'file', prefix: '', core: raw, suffix: '' };
    const suffix = (FORMAT_SUFFIX.exec(raw) ?? HASH_SUFFIX.exec(raw))?.[0] ?? '';
    const core = raw.slice(0, raw.length - suffix.length);
    // Struts writes the method of an action behind it: `EditBoat!default.jspa`.
    const form = PROGRAM_SUFFIX.test(suffix) && core.split('!').every(isProgramWord) ? 'word' : formOf(percentDecode(core), place);
    if (suffix !== '' && core !== '' && form !== 'word' && form !== 'file') return { form, prefix: '', core, suffix };
    // Below the root of an API no kind of thing is named: `/api/openapi.yaml` is the program's.
    if (
        form === 'file' &&
        /^(?:apis?|rest|rpc|v\d+(?:\.\d+)*)$/i.test(path[place - 1] ?? '') &&
        isProgramWord(raw.replace(/\.[A-Za-z]+$/, ''))
    )
        return { form: 'word', prefix: '', core: raw, suffix: '' };
    const isName = isProgramWord(core.replace(/^_+/, '')) || (PROGRAM_SUFFIX.test(suffix) && form === 'word');
    return { form: suffix === '' ? formOf(text, place) : isName ? 'word' : 'file', prefix: '', core: raw, suffix: '' };
}

function rangeForm(from: string, to: string): SegmentForm {
    return formOf(from) === 'number' && formOf(to) === 'number' ? 'number' : 'slug';
}

/** The form of decoded text. */
export function formOf(text: string, place = 2): SegmentForm {
    return FORMS.find(({ fits }) => fits(text, place))?.form ?? 'word';
}

const FORMS: readonly { form: SegmentForm; fits: (text: string, place: number) => boolean }[] = [
    {
        form: 'word',
        fits: (text, place) =>
            /^v\d{1,3}(?:\.\d{1,3})?(?:(?:alpha|beta)\d{0,2})?$/i.test(text) || (place < 2 && /^\d{1,2}\.\d{1,2}$/.test(text)),
    },
    { form: 'word', fits: (text) => text === '*' },
    { form: 'number', fits: (text) => /^-?\d+$/.test(text) },
    { form: 'uuid', fits: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) },
    { form: 'date', fits: (text) => /^\d{4}-\d{2}(?:-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?)?$/.test(text) },
    { form: 'version', fits: (text) => /^(?:\d+|v\d+\.\d+)\.\d+(?:\.\d+)*(?:[-+][\w.+-]+)?$/.test(text) },
    { form: 'hash', fits: (text) => isHash(text) || (/^[\dA-Fa-f]{2,}(?:\.[\dA-Fa-f]{2,})+$/.test(text) && text.split('.').some(isHash)) },
    { form: 'text', fits: (text) => /[^\w.~-]/.test(text) || personalKind(text) !== undefined || /^-?\d+\.\d+$/.test(text) },
    { form: 'token', fits: isToken },
    { form: 'locale', fits: (text) => /^[a-z]{2,3}[-_](?:[A-Z]{2}|[A-Z][a-z]{3}|\d{3})$/.test(text) },
    { form: 'code', fits: isMixed },
    {
        form: 'code',
        fits: (text) =>
            (/^[A-Z]{2,5}$/.test(text) && !isApiRoot(text)) || /^(?:[A-Za-z]{1,8}[-_]?\d{3,}|[A-Z][A-Z\d]{0,9}-\d+)$/.test(text),
    },
    { form: 'file', fits: (text) => /^[^.].*\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(text) && !FORMAT_SUFFIX.test(text) },
    // Some put the id of a thing before its title (`12-green-tea`), others behind it (`green-tea-with-mint_209`).
    { form: 'slug', fits: (text) => /^(?:(?:[a-z0-9]*-){4,}[a-z0-9]*|\d+-[a-z][a-z0-9-]*|[a-z]+(?:[_-][a-z\d]+)+[_-]\d{2,})$/i.test(text) },
];

/** Hexadecimal digits of one case, or many of both. */
function isHash(text: string): boolean {
    return (
        /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,128}$/.test(text) ||
        /^(?=.*\d)(?=.*[A-F])[0-9A-F]{7,128}$/.test(text) ||
        /^[0-9a-f]{32,128}$/i.test(text)
    );
}

/** Random letters and digits: long, mixed, and without words. */
function isToken(text: string): boolean {
    if (findSecrets(text) !== undefined) return true;
    // Words with marks between them change as often (`incoming_s2s_number`).
    if (!/^[\w-]{10,}$/.test(text) || !/\d/.test(text) || !/[A-Za-z]/.test(text) || isProgramWord(text)) return false;
    const changes = [...text].filter((char, at) => at > 0 && kindOfChar(char) !== kindOfChar(text[at - 1] ?? '')).length;
    return changes / text.length >= 0.3;
}

/** Short ids such as `x1y2z3` and `ld7SgA`, in which letters and digits alternate. */
function isMixed(text: string): boolean {
    if (/^[a-z\d]{6,12}$/.test(text)) return (text.match(/[a-z]\d|\d[a-z]/g)?.length ?? 0) >= 3;
    const changes = text.match(/(?=[A-Za-z]\d|\d[A-Za-z])/g)?.length ?? 0;
    return text.length <= 12 && changes >= 2 && looksRandom(text) && !/^v\d/i.test(text);
}

/** Pieces of a word: with or without a capital, capitals, or digits. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+|\d+|[_-]/g;

/**
 * Whether a word may be a random id such as `bblaGQ` or `ld7SgA`: letters of both cases, with a digit or adjacent capitals, in short pieces.
 * Words such as `oauth2`, `buyNow` and `x86_64` are not.
 */
export function looksRandom(text: string): boolean {
    if (!/^[\w-]{6,}$/.test(text) || !/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false;
    if (!/\d|[A-Z]{2}/.test(text)) return false;
    return (text.match(PIECES)?.length ?? 0) / text.length > 0.3;
}

/** Languages in the paths of sites. */
const LANGUAGES: ReadonlySet<string> = new Set(
    'ar bg ca cs da de el en es et eu fa fi fr gl he hi hr hu id it ja ko lt lv nb nl no pl pt ro ru sk sl sr sv th tr uk vi zh'.split(' '),
);

/** Whether a segment may be the language of the pages below it. */
export function isLanguage(text: string): boolean {
    return LANGUAGES.has(text);
}

/** Whether a segment is the direction in which a list is sorted. */
export function isDirection(text: string): boolean {
    return /^(?:asc|desc)(?:ending)?$/i.test(text);
}

function kindOfChar(char: string): number {
    if (/\d/.test(char)) return 0;
    if (/[A-Z]/.test(char)) return 1;
    return /[a-z]/.test(char) ? 2 : 3;
}

const ROUTE_WORDS: ReadonlySet<string> = new Set(
    (
        'about account accounts actions active activity add admin ajax alerts all analytics api app archive archives articles assets auth autocomplete ' +
        'batch best blog browse bulk by calendar callback cart catalog categories category channels chart check checkout clear comments config ' +
        'contact copy count counts create current dashboard data default delete detail details diff docs download downloads edit embed events ' +
        'explore export faq favorites featured feed feeds files filter filters find flags flow flows followers following forum full global graphql group groups health help ' +
        'history home hot image images import index info init inbox item items jobs labels latest legal likes links list lists live local lookup me ' +
        'media members merge message messages meta metadata metrics mine my new newest next news notes notifications options order orders page ' +
        'pages password permissions photos ping places popular post posts preferences preview previous price prices privacy products profile ' +
        'profiles projects public publish query questions random random ranking ratings raw readme recent recommended register related releases ' +
        'remove replies reports reset rest results reviews rpc rss rules save schema search self send services session sessions settings share similar ' +
        'sitemap social sources start stat state stats statistics status stop stream streams subscribe suggest suggestions summary sync system tags ' +
        'targets tasks terms test thread threads timeline today tools top topics tree trending update upload user users validate values verify ' +
        'version versions video videos view views vote votes watch web wiki'
    ).split(' '),
);

/** Whether the word is part of routes on many sites. It is not a value, even if it occurred as one. */
export function isRouteWord(text: string): boolean {
    return ROUTE_WORDS.has(text.toLowerCase());
}

/** Whether a segment only marks the beginning of an API and names no kind of item. */
export function isApiRoot(literal: string): boolean {
    return /^(?:-|_|api|apis|rest|ajax|json|(?:json[-_]?)?rpc|public|internal|v\d+(?:[._-]\d+)*(?:[._-]?(?:alpha|beta|rc|preview|dev)\d*)?|\d{1,2}(?:\.\d{1,2}){1,2}|\d{4}-\d{2}(?:-\d{2})?|www|web|app|services?|gateway|svc|data)$/i.test(
        literal,
    );
}

/** Whether a search term follows this segment of a path. */
export function precedesSearchTerm(literal: string): boolean {
    return /^(?:search|find|lookup|autocomplete|suggest|typeahead)$/i.test(literal);
}

/** Whether the name of a person follows this segment of a path. */
export function precedesPerson(literal: string): boolean {
    return /^(?:users?|members?|people|persons?|profiles?|accounts?|authors?|customers?|contacts?|u|employees?|patients?|students?|friends)$/i.test(
        literal,
    );
}

/** Whether the name by which pages are sorted follows this segment of a path. */
export function precedesName(literal: string): boolean {
    return /^(?:tags?|category|categories|topics?|brands?|genres?|authors?|artists?|keywords?)$/i.test(literal);
}

/** Whether a literal names a kind of items, as `posts` or `dist-tags` do. */
export function isPlural(literal: string): boolean {
    return singular(literal) !== literal;
}

/** `comments` → `comment`, `categories` → `category`. Other words are returned unchanged. */
export function singular(word: string): string {
    const lower = word.toLowerCase();
    if (IRREGULAR[lower] !== undefined) return IRREGULAR[lower] ?? word;
    // Abbreviations have no vowels (`dns`), and some words are no plurals of kinds of things.
    if (
        lower.length < 4 ||
        !/[aeiouy]/.test(lower) ||
        /(?:ss|us|is|news|series|status|analytics|settings|preferences|statistics|stats)$/.test(lower)
    )
        return word;
    if (/[^aeiou]ies$/.test(lower)) return `${word.slice(0, -3)}y`;
    if (/(?:x|ch|sh|ss|z)es$/.test(lower)) return word.slice(0, -2);
    return lower.endsWith('s') ? word.slice(0, -1) : word;
}

const IRREGULAR: Readonly<Record<string, string>> = { people: 'person', children: 'child', media: 'medium', data: 'data', apis: 'api' };
