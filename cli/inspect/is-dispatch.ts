import { isProgramWord, namesPeoplesWords } from './harmless.ts';

/** Query params that choose an action on sites whose routes have one address. */
export const DISPATCHERS =
    /^@?(?:action|do|cmd|command|op|operation|act|task|func|function|method|module|mod|route|request|service|controller)$/i;

/** Query params that choose an action on some sites (`?p=boats;a=log`) and filter a list on others: their pages tell. */
const MAYBE_DISPATCHERS = /^(?:[a-z]{1,2}|page|view|mode|show|section|screen|tab|type|what|tool)$/i;

/** The address of a program, not of one of its routes. */
export const ONE_ADDRESS = /\/$|\.(?:php|cgi|pl|aspx?|jsp|do)$/i;

/** Whether a query pair chooses what a program does. */
export function isDispatch(name: string, value: string): boolean {
    return DISPATCHERS.test(name) && isProgramWord(value);
}

/** Whether a query pair may choose what the program at an address does, so that its exchanges are kept apart until all were read. */
export function mayDispatch({ pathname }: URL, name: string, value: string): boolean {
    if (DISPATCHERS.test(name)) return false;
    return ONE_ADDRESS.test(pathname) && MAYBE_DISPATCHERS.test(name) && !namesPeoplesWords(name) && isProgramWord(value);
}
