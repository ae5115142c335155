import { isProgramWord, isSpecialPage, namesPeoplesWords } from './harmless.ts';
import { PROGRAM_SUFFIX } from './segments.ts';

/** Query params that select an action on sites where all routes have one address. */
export const DISPATCHERS =
    /^[@_]?(?:action|do|cmd|op|operation|operationName|act|task|func|function|method|module|mod|route|request|controller)$/i;

/** Query params that select an action on some sites (`?p=boats;a=log`) and filter a list on others. Their pages show which. */
export const MAYBE_DISPATCHERS = /^(?:[a-z]{1,2}|page|view|mode|show|section|screen|tab|type|what|tool|command|service)$/i;

/** Those whose actions a program may number (`op=3`, `cmd_typ=55`). Under other names a number is that of a thing or a page. */
const NUMBERED = /^(?:view|mode|type|[@_]?(?:action|act|do|cmd|command|op|func|function)(?:_?(?:type?|id|no|code))?)$/i;

/** Whether a program may number what a param asks for. */
function isNumbered(name: string, value: string): boolean {
    return NUMBERED.test(name) && /^\d{1,3}$/.test(value);
}

/** Words that ask for a format of the answer, whatever their param is called (`?f=json`). Each is a route if answers are of other kinds. */
const FORMATS = /^(?:(?:geo)?json|xml|html?|csv|tsv|rss|atom|rdf|txt|text|plain|yaml|ics|markdown)$/i;

/** Whether a word asks for a format of the answer. */
export function namesFormat(word: string): boolean {
    return FORMATS.test(word);
}

/** Query params that ask for another format of the same data, if they do not select a page. */
export const MAYBE_FORMATS = /^(?:format|output|fmt|alt)$/i;

/** Whether a path is the address of a program instead of one of its routes. */
export const ONE_ADDRESS = new RegExp(`/$|${PROGRAM_SUFFIX.source}`, 'i');

const MAX_PARTS = 5;

/** Names whose values may be paths (`route=/boats/list`). */
const ROUTES = /^(?:action|do|route|controller)$/i;

/** Whether a query pair selects the action of a program. Some write a thing and what is done with it: `action=boat.list`. */
export function isDispatch(name: string, value: string): boolean {
    const isAction = DISPATCHERS.test(name) && value !== '';
    const parts = ROUTES.test(name) ? value.replace(/^\//, '').split(/[./]/) : value.split('.');
    return (
        (isAction && (value === '/' || (parts.length <= MAX_PARTS && parts.every(isProgramWord)))) ||
        (name === 'title' && isSpecialPage(value))
    );
}

/** Names that say how something is done where the path says what (`/api/v1/weights?method=volume`). */
const SAYS_HOW = /^(?:method|function|func)$/i;
/** Ends of paths where the query selects the action: roots of APIs and gateways. */
const SAYS_NOTHING = /(?:^|[/_.-])(?:apis?|rest|rpc|ajax|query|gateway|services?|server|dispatch(?:er)?|call|execute|v?\d+(?:\.\d+)*)$/i;

/** Whether a query pair certainly selects the action of the program at an address. */
export function dispatchesAt(path: string, name: string, value: string): boolean {
    return isDispatch(name, value) && !(SAYS_HOW.test(name) && !ONE_ADDRESS.test(path) && !SAYS_NOTHING.test(path));
}

/**
 * Whether a query pair may select the action of the program at an address. Its exchanges stay separate until all were read.
 * @param answer the JSON that answered, if it did
 */
export function mayDispatch({ pathname, searchParams }: URL, name: string, value: string, answer?: string): boolean {
    const isNumber = isNumbered(name, value);
    const isWord = isProgramWord(value) || isNumber;
    if (isWord && namesFormat(value) && !namesPeoplesWords(name) && !DISPATCHERS.test(name)) return true;
    if ((DISPATCHERS.test(name) && !isNumber) || !ONE_ADDRESS.test(pathname) || !isWord) return false;
    if (namesPeoplesWords(name)) return answer !== undefined && namesPart(value, answer);
    // The first param usually selects the action, such as `table` of `edit.php?table=boats&id=3`.
    const [first = name] = searchParams.keys();
    return isNumber || name === first || MAYBE_DISPATCHERS.test(name) || MAYBE_FORMATS.test(name);
}

const MAX_READ = 20_000;

/** Whether an answer has a field that a word names (`{"boatlist": …}` or `{"list": …}` of `?query=boatlist`): then it is the program's word. */
function namesPart(word: string, answer: string): boolean {
    const fields = answer.slice(0, MAX_READ).matchAll(/"([A-Za-z]{4,24})"\s*:/g);
    return [...fields].some(([, field = '']) => word.toLowerCase().endsWith(field.toLowerCase()));
}
