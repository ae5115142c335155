import type { LoginSign } from '../../shared/domain/fetch/login-words.ts';
import { cutResults, resultsAt, wrapResult } from '../../shared/domain/fetch/wrap-result.ts';
import { isFaithful } from '../../shared/domain/json/faithful-json.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { checkData, refuseLength, validateData } from './check-data.ts';
import { checkSize } from './measure.ts';
import { type ParseBody, parsePage, type RawPage, type ResponseRules } from './parse-page.ts';

/** The wanted part of an answer: at most `maxResults` of the results at a dotted path. */
export interface Wanted {
    results: string;
    maxResults: number;
}

/** The content of an answer, as the caller gets it. */
export interface Content {
    /** A JSON object. */
    text: string;
    /** Length of the list of results after the cut; 1 if there is no list. */
    results: number;
    isListed: boolean;
    truncated: boolean;
    /** Whether the answer is HTML that asks to sign in. */
    login?: LoginSign | undefined;
}

/**
 * Turns an answer into `data` (docs/api.md, "Hosted fetch"): decoded, parsed, selected, wrapped, validated by `response.schema`, and cut.
 * JSON without a selection keeps the site's text, unless parsers could disagree about it. Numbers keep their digits.
 * @param options.isMeasured whether to count the selected data first; for inline rules the page's size bounds it
 * @throws InvalidResponse for an answer that does not fit the endpoint, and for more than 10 MiB before the cut
 */
export function readPage(
    page: RawPage,
    rules: ResponseRules,
    wanted: Wanted,
    parse?: ParseBody,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Content {
    const { schema, select } = rules;
    const parsed = parsePage(page, rules, parse);
    if (parsed === undefined) return cut(validateData({}, schema), wanted);
    const whole = parsed.json?.whole;
    if (whole !== undefined && select === undefined && isFaithful(whole.text, whole.rounded)) {
        const kept = wrapText(whole.text, whole.rounded);
        const results = resultsAt(checkData(wrapResult(whole.rounded), schema), wanted.results);
        refuseLength(kept);
        if (results !== undefined && results.length > wanted.maxResults) return cut(wrapResult(parsed.value(rules)), wanted);
        return { text: kept, results: results?.length ?? 1, isListed: results !== undefined, truncated: false };
    }
    const data = wrapResult(parsed.value(rules));
    if (isMeasured) checkSize(data, { isSelected: select !== undefined });
    const content = cut(validateData(data, schema), wanted);
    return parsed.login === undefined ? content : { ...content, login: parsed.login };
}

/** Cuts `data` to the wanted results and serializes it. @throws InvalidResponse for more than 10 MiB */
function cut(whole: JsonObject, wanted: Wanted): Content {
    const isListed = resultsAt(whole, wanted.results) !== undefined;
    const { data, results, truncated } = cutResults(whole, wanted.results, wanted.maxResults);
    const text = JSON.stringify(data);
    refuseLength(text);
    return { text, results, isListed, truncated };
}

/** `wrapResult` for the JSON text of a value. */
function wrapText(text: string, value: Json | undefined): string {
    if (Array.isArray(value)) return `{"items":${text}}`;
    return typeof value === 'object' && value !== null ? text : `{"value":${text}}`;
}
