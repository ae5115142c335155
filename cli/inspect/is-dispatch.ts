import { isProgramWord, namesPeoplesWords } from './harmless.ts';
import { PROGRAM_SUFFIX } from './segments.ts';

/** Query params that select an action on sites where all routes have one address. */
export const DISPATCHERS =
    /^[@_]?(?:action|do|cmd|command|op|operation|act|task|func|function|method|module|mod|route|request|service|controller)$/i;

/** Query params that select an action on some sites (`?p=boats;a=log`) and filter a list on others. Their pages show which. */
const MAYBE_DISPATCHERS = /^(?:[a-z]{1,2}|page|view|mode|show|section|screen|tab|type|what|tool)$/i;

/** Whether a path is the address of a program instead of one of its routes. */
export const ONE_ADDRESS = new RegExp(`/$|${PROGRAM_SUFFIX.source}`, 'i');

/** Whether a query pair selects the action of a program. */
export function isDispatch(name: string, value: string): boolean {
    return DISPATCHERS.test(name) && isProgramWord(value);
}

/** Whether a query pair may select the action of the program at an address. Its exchanges stay separate until all were read. */
export function mayDispatch({ pathname }: URL, name: string, value: string): boolean {
    if (DISPATCHERS.test(name)) return false;
    return ONE_ADDRESS.test(pathname) && MAYBE_DISPATCHERS.test(name) && !namesPeoplesWords(name) && isProgramWord(value);
}
