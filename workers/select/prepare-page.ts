import type { PreparedForm } from '../../shared/domain/fetch/prepared-form.ts';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Extract, Json, Method } from '../../shared/domain/types.ts';
import { decode } from './decode.ts';
import { baseOf, loadHtml } from './html.ts';
import { readForm } from './read-form.ts';
import type { RawPage } from './read-page.ts';
import { selectOne } from './select-html.ts';

/** What a step of `prepare` takes from its page. */
export interface WantedOfStep {
    /** Pointer to the step, for messages. */
    path: string;
    form?: { path: string; selector: string; method: Method } | undefined;
    extract: Readonly<Record<string, Extract>>;
}

export interface PreparedPage {
    form?: PreparedForm;
    /** What was extracted, by name. */
    found: Record<string, Json>;
}

/** Reads the form and the values of a page of HTML. @throws InvalidResponse */
export function prepareFromHtml(page: RawPage, { path, form, extract }: WantedOfStep): PreparedPage {
    const $ = loadHtml(decode(page));
    const base = baseOf($, page.url);
    const found = Object.entries(extract).map(([name, entry]): [string, Json] => [
        name,
        selectOne($, entry, { path: `${path}/extract/${escapePointer(name)}`, base }),
    ]);
    const read = form === undefined ? {} : { form: readForm($, page.url, form) };
    return { ...read, found: Object.fromEntries(found) };
}
