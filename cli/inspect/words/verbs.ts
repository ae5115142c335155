import { wordsOf } from './harmless.ts';

/** Whether a word only says what a program does, such as `get` or `revoke`. */
export function isVerb(word: string): boolean {
    return /^(?:get|fetch)$/.test(word) || CHANGES.test(word);
}

/** Whether a name begins with a verb of change: `deletePad`, `pads.remove`, `killsource`. */
export function saysChange(name: string): boolean {
    const [first = ''] = wordsOf(name.split(/[./:]/).at(-1) ?? '');
    return CHANGES.test(first) || JOINED_CHANGE.test(first);
}

/** Whether a name is a verb and its object, perhaps after a short prefix of the program: `rn-add-page`, `savemap`, `check_message`. */
export function isVerbWithObject(name: string): boolean {
    const words = wordsOf(name);
    const [first = '', second = ''] = words;
    const isMarked = words.length > 2 && first.length <= 3 && isVerb(second);
    return isMarked || (words.length > 1 ? isVerb(first) || CHECKS.test(first) : JOINED_CHANGE.test(name) || JOINED_SAVE.test(name));
}

const CHECKS = /^(?:check|validate|verify|test|preview|render|convert|calculate)$/;
const JOINED_SAVE = /^(?:save|add|send|submit)(?=(?:[a-z]{3,}))(?!ings?$|ress|itional|er)/;

/** A verb and its object in one word, but not a noun (`movement`). */
const JOINED_CHANGE = /^(?:create|delete|disable|enable|kill|move|remove|rename|restart|update)(?!ments?$|ables?$|rs?$)[a-z]{4,}$/;

/** Verbs of change, with words that join a second verb (`find_or_make`). */
export const CHANGES =
    /^(?:add|and|append|apply|approve|assign|ban|block|cancel|clear|clone|close|copy|create|decrement|delete|destroy|disable|dislike|drop|duplicate|edit|enable|execute|follow|grant|import|increment|insert|install|invite|kick|kill|like|lock|mark|merge|modify|move|mute|or|patch|pause|pin|publish|purge|put|reject|remove|rename|replace|replay|reset|restart|restore|resume|retry|revert|revoke|rotate|save|scrobble|send|set|skip|star|start|stop|submit|subscribe|swap|toggle|trash|unban|unfollow|unlike|unlock|unmute|unpin|unset|unstar|unsubscribe|update|upgrade|upload|upsert|vote|write)$/;
