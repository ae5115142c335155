import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import { isPlural, type Piece, precedesPerson, precedesSearchTerm, singular } from '../words/segments.ts';
import { areAlike, MAX_COMPARED } from './alike.ts';
import type { Group } from './groups.ts';
import { isMember } from './parts-of-routes.ts';
import { DATA, type Place, withoutFormat } from './place.ts';
import { unlikeAnswers, unlikeNames } from './same-use.ts';
import type { SeenTexts } from './seen-texts.ts';
import { isLast, isPostOnly } from './written-words.ts';

/**
 * Adds the words that follow a search, are half of a name, or were seen as a name or a value elsewhere.
 * @param sent candidates that were sent as values
 */
export function addSeen(varying: Set<string>, here: Place, sent: readonly string[]): void {
    const { words, siblings, place, parent, candidates, isBelowValue, isRoot, isOfThings, seen, kinds } = here;
    const wasName = (word: string) => seen.wasName(percentDecode(word)) || seen.wasName(withoutFormat(percentDecode(word)));
    // The only word below the root of an API is a part of the API, even if a user has that name (`/api/admin/…`).
    const isOnlyPart = isRoot && parent !== undefined && words.size + siblings.length === 1;
    // The site may list its modules by name. They have different addresses below them; things of one kind share some.
    const names = isRoot ? candidates.filter(wasName) : [];
    const unlike = parent === undefined ? [] : unlikeAnswers(words, names, { siblings, place });
    const parts = new Set([...unlikeNames(words, names, place), ...unlike]);
    const isView = isOneView(here);
    for (const word of candidates) {
        const groups = words.get(word) ?? [];
        // A search that is only posted to gets its term in the body.
        const isTerm =
            parent?.form === 'word' &&
            precedesSearchTerm(parent.core) &&
            !groups.some(sendsSearchTerm) &&
            groups.some(({ method }) => method === 'GET');
        const isPerson =
            parent?.form === 'word' &&
            precedesPerson(parent.core) &&
            !/\.html?$/.test(word) &&
            (isOfThings || !isPlural(word)) &&
            !groups.some(sendsSearchTerm);
        // `network=harbour` was sent, so `/network/harbour` has a value, too.
        const isParam = parent?.form === 'word' && seen.wasSent(percentDecode(word), singular(parent.core));
        if (isTerm || isPerson || isParam || isValueWithNext(groups, place, seen)) varying.add(word);
        else if (isView) continue;
        else if (wasName(word) && !isOnlyPart && !parts.has(word)) varying.add(word);
        else if (
            !isRoot &&
            wasValue(seen, word) &&
            !(isBelowValue && isPostOnly(groups, place) && !sent.includes(word)) &&
            !(isBelowValue && isViewOfSeveral(word, here)) &&
            !(!isBelowValue && siblings.length === 0 && kinds.has(word)) &&
            isMember(groups, parent, place, varying.size + siblings.length)
        )
            varying.add(word);
    }
}

/** Whether several things have one word below them and nothing else: it is a view of them. */
function isOneView({ words, siblings, place, candidates, isBelowValue }: Place): boolean {
    return (
        isBelowValue &&
        !siblings.some((group) => isLast(group, place)) &&
        new Set(candidates.map(withoutFormat)).size === 1 &&
        [...words.values()].flat().every((group) => group.sendings > 1 && isLast(group, place))
    );
}

/** Whether the word was asked for below several things, and its answers resemble those of nothing beside it: it is a view of them. */
function isViewOfSeveral(word: string, { words, siblings, place, candidates }: Place): boolean {
    const groups = words.get(word) ?? [];
    if (!groups.some(({ segments }) => segments[place - 1]?.isSeveral === true)) return false;
    const others = candidates.filter((one) => one !== word).slice(0, MAX_COMPARED);
    return !areAlike(groups, siblings, place) && !others.some((other) => areAlike(groups, words.get(other), place));
}

export function wasValue(seen: SeenTexts, word: string): boolean {
    return seen.wasSaid(percentDecode(word)) || seen.wasSaid(percentDecode(word).replace(DATA, ''));
}

/** Adds words that occurred as values and resemble each other. At the root and below a singular, one such word alone is weak evidence. */
export function addSaid(varying: Set<string>, { words, place, candidates, isBelowValue, seen }: Place): void {
    const said = isBelowValue ? [] : candidates.filter((word) => wasValue(seen, word));
    for (const word of said)
        if (said.slice(0, MAX_COMPARED).some((other) => other !== word && areAlike(words.get(word), words.get(other), place)))
            varying.add(word);
}

/** Adds usual words that answers have as values, if they are read as two other words are (`/ropes/active`, `/ropes/wet`, `/ropes/dry`). */
export function addUsual(varying: Set<string>, { words, place, candidates, seen }: Place): void {
    const usual = [...words.keys()].filter((word) => !candidates.includes(word) && wasValue(seen, word));
    const known = [...varying].slice(0, MAX_COMPARED);
    for (const word of usual) if (known.filter((other) => areAlike(words.get(word), words.get(other), place)).length > 1) varying.add(word);
}

/** Whether the search term is in the query. Then the path contains what is searched (`/search/boats?q=`). */
function sendsSearchTerm({ query }: Group): boolean {
    return [...query.keys()].some((name) => /^(?:q|query|search|terms?|text|words|keys|keywords?)$/i.test(name));
}

/** Whether the segment is half of a two-segment name such as `owner/repository`. */
function isValueWithNext(groups: readonly Group[], place: number, seen: SeenTexts): boolean {
    return groups.some(({ segments }) => {
        const [before, here, next] = [segments[place - 1], segments[place], segments[place + 1]];
        const isPair = (first: Piece | undefined, second: Piece | undefined) =>
            first !== undefined &&
            second !== undefined &&
            seen.wasSaid(`${first.prefix}${percentDecode(first.core)}/${percentDecode(second.core)}`);
        return isPair(here, next) || isPair(before, here);
    });
}
