import { findSecrets } from '../package/secrets-scan.ts';
import { foldCase } from '../text/fold-text.ts';
import { normaliseNewlines } from '../text/text-rule.ts';

const MIN_INTENT_CHARACTERS = 20;
const MIN_INTENT_WORDS = 5;

type IntentCheck =
    | { ok: true; intent: string /** Distinct, case-folded, in the order of their first mention. */; words: string[] }
    | { ok: false; code: IntentFault };

export type IntentFault = 'INTENT_REQUIRED' | 'INTENT_TOO_SHORT' | 'INTENT_TOO_FEW_WORDS';

/** Checks in this order (docs/api.md, "The registry"): presence, 20 code points after trimming, 5 distinct words. */
export function checkIntent(text: string | undefined): IntentCheck {
    const intent = normaliseNewlines(text ?? '').trim();
    if (intent === '') return { ok: false, code: 'INTENT_REQUIRED' };
    if (!hasCodePoints(intent, MIN_INTENT_CHARACTERS)) return { ok: false, code: 'INTENT_TOO_SHORT' };
    const words = [...new Set(runsOf(intent).map(foldCase))];
    if (words.length < MIN_INTENT_WORDS) return { ok: false, code: 'INTENT_TOO_FEW_WORDS' };
    return { ok: true, intent, words };
}

/** Maximum number of code points of the input that an example repeats. */
const MAX_TYPED = 60;

/** A valid intent from the distinct words of an invalid one and some general ones. Text with a secret is not repeated. */
export function exampleIntent(typed: string | undefined, site: string): string {
    const text = typed ?? '';
    const runs = findSecrets(text) === undefined ? runsOf(text) : [];
    const all = [...new Map(runs.map((run) => [foldCase(run), run])).values()].join(' ');
    const isUsable = all !== '' && [...all].length <= MAX_TYPED;
    return `${isUsable ? all : 'search by name'} on ${site}: list what matches, with its details`;
}

function runsOf(text: string): string[] {
    return text.normalize('NFC').match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
}

function hasCodePoints(text: string, wanted: number): boolean {
    if (text.length >= wanted * 2) return true;
    return [...text].length >= wanted;
}
